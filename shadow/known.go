package shadow

import "slices"

// known is what a provider documents about one of its keys: the names that its
// tools give it and where it is sent.
type known struct {
	provider string
	names    []string
	binding  Binding
	active   bool // without being asked: it can run a model or a search, but change no account
}

// Known gives the row of a well-known name: where its key is sent, and whether
// it may be without the user saying so. Rows that can change an account are not
// active; rows without hosts are of providers that give each customer a host of
// his own, which only the user can name.
func Known(name string) (b Binding, active, ok bool) {
	for _, rows := range [][]known{modelRows(), moreModelRows(), codeRows(), cloudRows(), serviceRows()} {
		for _, r := range rows {
			if slices.Contains(r.names, name) {
				return r.binding, r.active, true
			}
		}
	}
	return Binding{}, false, false
}

func hosts(all ...string) []string { return all }

func names(all ...string) []string { return all }

// infer is the binding of a model's host: the calls that run a model, and none
// that keeps a file there.
func infer(host string, paths ...string) Binding {
	return Binding{Hosts: hosts(host), Places: []string{"auth"}, Methods: []string{"GET", "HEAD", "POST"}, Paths: paths}
}

// in is a binding with other places.
func (b Binding) in(places ...string) Binding {
	b.Places = places
	return b
}

// use is the binding of an API below paths; none is the whole host.
func use(all []string, paths ...string) Binding {
	return Binding{Hosts: all, Places: []string{"auth"}, Paths: paths}
}

// by is a binding with other methods.
func (b Binding) by(methods ...string) Binding {
	b.Methods = methods
	return b
}

// as is a binding of another kind.
func (b Binding) as(k Kind) Binding {
	b.Kind = k
	return b
}

// chat are the paths of hosts that speak OpenAI's protocol below a prefix.
func chat(prefix string) []string {
	return []string{prefix + "/chat/completions", prefix + "/completions", prefix + "/responses", prefix + "/embeddings", prefix + "/models"}
}

// modelRows are the hosts of large model providers, from their API references.
func modelRows() []known {
	claude := infer("api.anthropic.com", "/v1/messages", "/v1/complete", "/v1/models")
	openai := infer("api.openai.com", append(chat("/v1"), "/v1/moderations", "/v1/images/generations", "/v1/audio/speech", "/v1/audio/transcriptions")...)
	gemini := infer("generativelanguage.googleapis.com", "/v1beta/models", "/v1/models", "/v1beta/openai/chat/completions", "/v1beta/openai/embeddings", "/v1beta/openai/models")
	var regions []string
	for _, r := range []string{
		"us-east-1", "us-east-2", "us-west-2", "ca-central-1", "sa-east-1", "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3",
		"ap-northeast-1", "ap-south-1", "ap-southeast-1", "ap-southeast-2",
	} {
		regions = append(regions, "bedrock-runtime."+r+".amazonaws.com")
	}
	bedrock := use(regions, "/model").by("POST")
	return []known{
		{"anthropic", names("ANTHROPIC_API_KEY", "CLAUDE_API_KEY"), claude.in("header:x-api-key", "auth"), true},
		{"anthropic", names("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"), claude, true},
		{"openai", names("OPENAI_API_KEY", "OPENAI_KEY"), openai, true},
		{"google", names("GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"), gemini.in("header:x-goog-api-key", "query:key", "auth"), true},
		{"amazon", names("AWS_BEARER_TOKEN_BEDROCK"), bedrock, true},
		{"azure", names("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_KEY", "AZURE_API_KEY"), infer("", "/openai").in("header:api-key").nowhere(), false},
	}
}

// nowhere is a binding whose hosts are still to be named.
func (b Binding) nowhere() Binding {
	b.Hosts = nil
	return b
}

func moreModelRows() []known {
	router := infer("router.huggingface.co", append(chat("/v1"), "/hf-inference/models")...)
	cohere := infer("api.cohere.com", "/v1/chat", "/v2/chat", "/v1/embed", "/v2/embed", "/v1/rerank", "/v2/rerank", "/v1/generate", "/v1/models")
	deepseek := infer("api.deepseek.com", append(chat("/v1"), "/chat/completions", "/beta/completions", "/models", "/anthropic/v1/messages")...)
	return []known{
		{"huggingface", names("HF_TOKEN", "HUGGINGFACE_API_KEY", "HUGGINGFACE_TOKEN", "HUGGINGFACEHUB_API_TOKEN", "HUGGING_FACE_HUB_TOKEN"), router, true},
		{"openrouter", names("OPENROUTER_API_KEY"), infer("openrouter.ai", append(chat("/api/v1"), "/api/v1/messages")...), true},
		{"groq", names("GROQ_API_KEY"), infer("api.groq.com", append(chat("/openai/v1"), "/openai/v1/audio")...), true},
		{"mistral", names("MISTRAL_API_KEY"), infer("api.mistral.ai", append(chat("/v1"), "/v1/fim/completions", "/v1/moderations")...), true},
		{"mistral", names("CODESTRAL_API_KEY"), infer("codestral.mistral.ai", "/v1/chat/completions", "/v1/fim/completions"), true},
		{"cohere", names("COHERE_API_KEY", "CO_API_KEY"), cohere, true},
		{"deepseek", names("DEEPSEEK_API_KEY"), deepseek.in("auth", "header:x-api-key"), true},
		{"xai", names("XAI_API_KEY"), infer("api.x.ai", append(chat("/v1"), "/v1/messages")...), true},
		{"together", names("TOGETHER_API_KEY", "TOGETHERAI_API_KEY"), infer("api.together.xyz", append(chat("/v1"), "/v1/rerank")...), true},
		{"fireworks", names("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"), infer("api.fireworks.ai", chat("/inference/v1")...), true},
		{"perplexity", names("PERPLEXITY_API_KEY", "PERPLEXITYAI_API_KEY", "PPLX_API_KEY"), infer("api.perplexity.ai", "/chat/completions", "/search"), true},
		{"cerebras", names("CEREBRAS_API_KEY"), infer("api.cerebras.ai", chat("/v1")...), true},
		{"nvidia", names("NVIDIA_API_KEY", "NVIDIA_NIM_API_KEY"), infer("integrate.api.nvidia.com", chat("/v1")...), true},
		{"voyage", names("VOYAGE_API_KEY"), infer("api.voyageai.com", "/v1/embeddings", "/v1/multimodalembeddings", "/v1/rerank"), true},
		{"replicate", names("REPLICATE_API_TOKEN", "REPLICATE_API_KEY"), infer("api.replicate.com", "/v1/predictions"), true},
		{"elevenlabs", names("ELEVENLABS_API_KEY", "ELEVEN_API_KEY"), infer("api.elevenlabs.io", "/v1/text-to-speech", "/v1/models").in("header:xi-api-key"), true},
		{"brave", names("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"), infer("api.search.brave.com", "/res/v1").in("header:x-subscription-token").by("GET"), true},
		{"tavily", names("TAVILY_API_KEY"), infer("api.tavily.com", "/search", "/extract"), true},
	}
}

// codeRows are forges and package registries. A registry's row reads only:
// publishing takes a binding of the user's.
func codeRows() []known {
	return []known{
		{"github", names("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_PAT", "GITHUB_API_TOKEN", "GITHUB_ACCESS_TOKEN"), use(hosts("api.github.com"), "/repos", "/user", "/users", "/orgs", "/search", "/rate_limit", "/graphql"), false},
		{"gitlab", names("GITLAB_TOKEN", "GITLAB_PRIVATE_TOKEN", "GITLAB_API_TOKEN", "GL_TOKEN"), use(hosts("gitlab.com"), "/api/v4/projects", "/api/v4/groups", "/api/v4/user", "/api/v4/users", "/api/v4/search").in("header:private-token", "auth"), false},
		{"bitbucket", names("BITBUCKET_TOKEN", "BITBUCKET_ACCESS_TOKEN", "BITBUCKET_APP_PASSWORD"), use(hosts("api.bitbucket.org"), "/2.0/repositories", "/2.0/user"), false},
		{"npm", names("NPM_TOKEN", "NODE_AUTH_TOKEN", "NPM_AUTH_TOKEN"), use(hosts("registry.npmjs.org")).by("GET", "HEAD"), false},
		{"pypi", names("PYPI_TOKEN", "PYPI_API_TOKEN", "TWINE_PASSWORD", "UV_PUBLISH_TOKEN", "POETRY_PYPI_TOKEN_PYPI"), use(hosts("upload.pypi.org"), "/legacy").by("POST").as(Basic), false},
		{"crates", names("CARGO_REGISTRY_TOKEN"), use(hosts("crates.io"), "/api/v1/crates", "/api/v1/me").by("GET", "PUT"), false},
		{"rubygems", names("GEM_HOST_API_KEY", "RUBYGEMS_API_KEY"), use(hosts("rubygems.org"), "/api/v1/gems"), false},
		{"docker", names("DOCKERHUB_TOKEN", "DOCKER_HUB_TOKEN"), use(hosts("hub.docker.com"), "/v2"), false},
		{"sentry", names("SENTRY_AUTH_TOKEN"), use(hosts("sentry.io", "us.sentry.io", "de.sentry.io"), "/api/0"), false},
		{"snyk", names("SNYK_TOKEN"), use(hosts("api.snyk.io"), "/rest", "/v1"), false},
		{"linear", names("LINEAR_API_KEY"), use(hosts("api.linear.app"), "/graphql").by("POST"), false},
		{"notion", names("NOTION_API_KEY", "NOTION_TOKEN"), use(hosts("api.notion.com"), "/v1"), false},
		{"airtable", names("AIRTABLE_API_KEY", "AIRTABLE_TOKEN", "AIRTABLE_PAT"), use(hosts("api.airtable.com"), "/v0"), false},
	}
}

func cloudRows() []known {
	datadog := hosts("api.datadoghq.com", "api.us3.datadoghq.com", "api.us5.datadoghq.com", "api.datadoghq.eu", "api.ap1.datadoghq.com")
	aws := use(hosts("*.amazonaws.com")).as(SigV4)
	return []known{
		{"amazon", names("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"), aws, false},
		{"amazon", names("AWS_SESSION_TOKEN"), aws.in("header:x-amz-security-token", "query:X-Amz-Security-Token"), false},
		{"google", names("GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN", "GCP_ACCESS_TOKEN"), use(hosts("*.googleapis.com")), false},
		{"azure", names("AZURE_ACCESS_TOKEN", "ARM_ACCESS_TOKEN"), use(hosts("management.azure.com"), "/subscriptions", "/tenants"), false},
		{"azure", names("AZURE_CLIENT_SECRET", "ARM_CLIENT_SECRET"), use(hosts("login.microsoftonline.com")).in("form:client_secret").by("POST"), false},
		{"cloudflare", names("CLOUDFLARE_API_TOKEN", "CF_API_TOKEN"), use(hosts("api.cloudflare.com"), "/client/v4"), false},
		{"cloudflare", names("CLOUDFLARE_API_KEY", "CF_API_KEY"), use(hosts("api.cloudflare.com"), "/client/v4").in("header:x-auth-key"), false},
		{"vercel", names("VERCEL_TOKEN", "VERCEL_API_TOKEN"), use(hosts("api.vercel.com")), false},
		{"netlify", names("NETLIFY_AUTH_TOKEN"), use(hosts("api.netlify.com"), "/api/v1"), false},
		{"heroku", names("HEROKU_API_KEY"), use(hosts("api.heroku.com")), false},
		{"digitalocean", names("DIGITALOCEAN_ACCESS_TOKEN", "DIGITALOCEAN_TOKEN"), use(hosts("api.digitalocean.com"), "/v2"), false},
		{"fly", names("FLY_API_TOKEN", "FLY_ACCESS_TOKEN"), use(hosts("api.machines.dev", "api.fly.io")), false},
		{"render", names("RENDER_API_KEY"), use(hosts("api.render.com"), "/v1"), false},
		{"hetzner", names("HCLOUD_TOKEN"), use(hosts("api.hetzner.cloud"), "/v1"), false},
		{"linode", names("LINODE_TOKEN", "LINODE_CLI_TOKEN"), use(hosts("api.linode.com"), "/v4"), false},
		{"terraform", names("TF_API_TOKEN", "TFE_TOKEN"), use(hosts("app.terraform.io"), "/api/v2"), false},
		{"supabase", names("SUPABASE_ACCESS_TOKEN"), use(hosts("api.supabase.com"), "/v1"), false},
		{"supabase", names("SUPABASE_KEY", "SUPABASE_ANON_KEY", "SUPABASE_SERVICE_KEY", "SUPABASE_SERVICE_ROLE_KEY", "SUPABASE_SECRET_KEY"), use(nil).in("header:apikey", "auth"), false},
		{"datadog", names("DD_API_KEY", "DATADOG_API_KEY"), use(datadog, "/api").in("header:dd-api-key"), false},
		{"datadog", names("DD_APP_KEY", "DD_APPLICATION_KEY", "DATADOG_APP_KEY"), use(datadog, "/api").in("header:dd-application-key"), false},
	}
}

// serviceRows are payment and messages.
func serviceRows() []known {
	return []known{
		{"stripe", names("STRIPE_SECRET_KEY", "STRIPE_API_KEY", "STRIPE_KEY"), use(hosts("api.stripe.com"), "/v1", "/v2"), false},
		{"slack", names("SLACK_BOT_TOKEN", "SLACK_TOKEN", "SLACK_USER_TOKEN", "SLACK_APP_TOKEN", "SLACK_API_TOKEN"), use(hosts("slack.com"), "/api").in("auth", "form:token"), false},
		{"discord", names("DISCORD_TOKEN", "DISCORD_BOT_TOKEN"), use(hosts("discord.com"), "/api"), false},
		{"sendgrid", names("SENDGRID_API_KEY"), use(hosts("api.sendgrid.com", "api.eu.sendgrid.com"), "/v3"), false},
		{"twilio", names("TWILIO_AUTH_TOKEN", "TWILIO_API_SECRET", "TWILIO_API_KEY_SECRET"), use(hosts("api.twilio.com"), "/2010-04-01/Accounts").as(Basic), false},
		{"mailgun", names("MAILGUN_API_KEY"), use(hosts("api.mailgun.net", "api.eu.mailgun.net"), "/v3", "/v4").as(Basic), false},
		{"resend", names("RESEND_API_KEY"), use(hosts("api.resend.com")), false},
		{"postmark", names("POSTMARK_SERVER_TOKEN", "POSTMARK_API_TOKEN"), use(hosts("api.postmarkapp.com")).in("header:x-postmark-server-token"), false},
		{"shopify", names("SHOPIFY_ACCESS_TOKEN", "SHOPIFY_ADMIN_API_ACCESS_TOKEN"), use(nil, "/admin/api").in("header:x-shopify-access-token"), false},
		{"pinecone", names("PINECONE_API_KEY"), use(hosts("*.pinecone.io")).in("header:api-key"), false},
		{"langsmith", names("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"), use(hosts("api.smith.langchain.com", "eu.api.smith.langchain.com")).in("header:x-api-key"), false},
	}
}
