package credential

import "slices"

// modelRows are tokens of who runs models.
func modelRows() []Row {
	return slices.Concat(
		provider("OpenAI", "https://platform.openai.com/docs/api-reference/authentication",
			kind("openai-project", "project key", lit("sk-proj-").span(url, 20, 74).lit("T3BlbkFJ").span(url, 20, 74)),
			kind("openai-service", "service account key", lit("sk-svcacct-").span(url, 20, 74).lit("T3BlbkFJ").span(url, 20, 74)),
			kind("openai-admin", "admin key", lit("sk-admin-").span(url, 20, 74).lit("T3BlbkFJ").span(url, 20, 74)),
			kind("openai-key", "API key", lit("sk-").n(alnum, 20).lit("T3BlbkFJ").n(alnum, 20))),
		provider("Anthropic", "https://docs.claude.com/en/api/overview",
			kind("anthropic-key", "API key", lit("sk-ant-api03-").span(url, 80, 110).lit("AA")),
			kind("anthropic-admin", "admin key", lit("sk-ant-admin01-").span(url, 80, 110).lit("AA")),
			kind("anthropic-oauth", "OAuth access token", lit("sk-ant-oat01-").span(url, 80, 110).lit("AA")),
			kind("anthropic-refresh", "OAuth refresh token", lit("sk-ant-ort01-").span(url, 80, 110).lit("AA")),
			kind("anthropic-session", "session key", lit("sk-ant-sid01-").span(url, 70, 120).lit("AA"))),
		provider("OpenRouter", "https://openrouter.ai/docs/api-reference/authentication",
			kind("openrouter-key", "API key", lit("sk-or-v1-").n(hex, 64))),
		provider("Groq", "https://console.groq.com/docs/quickstart",
			kind("groq-key", "API key", lit("gsk_").n(alnum, 52))),
		provider("Hugging Face", "https://huggingface.co/docs/hub/security-tokens",
			kind("huggingface-token", "access token", lit("hf_").n(letter, 34)),
			kind("huggingface-org", "organization token", lit("api_org_").n(letter, 34))),
		provider("Replicate", "https://replicate.com/docs/topics/security/api-tokens",
			kind("replicate-token", "API token", lit("r8_").n(alnum, 37))),
	)
}

// smallModelRows are tokens of the other makers of models.
func smallModelRows() []Row {
	return slices.Concat(
		provider("Cohere", "https://docs.cohere.com/docs/rate-limits",
			kind("cohere-key", "API key", run(alnum, 40)).near("cohere", "co_api_key")),
		provider("Mistral", "https://docs.mistral.ai/getting-started/quickstart/",
			kind("mistral-key", "API key", run(alnum, 32)).near("mistral")),
		provider("Perplexity", "https://docs.perplexity.ai/getting-started/quickstart",
			kind("perplexity-key", "API key", lit("pplx-").n(alnum, 48))),
		provider("xAI", "https://docs.x.ai/docs/tutorial",
			kind("xai-key", "API key", lit("xai-").n(word, 80))),
		provider("DeepSeek", "https://api-docs.deepseek.com/",
			kind("deepseek-key", "API key", lit("sk-").n(hex, 32)).near("deepseek")),
		provider("Moonshot", "https://platform.moonshot.ai/docs/introduction",
			kind("moonshot-key", "API key", lit("sk-").n(url, 48)).near("moonshot", "kimi")),
		provider("DashScope", "https://help.aliyun.com/zh/model-studio/get-api-key",
			kind("dashscope-key", "API key", lit("sk-").n(hex, 32)).near("dashscope", "qwen")),
		provider("Zhipu", "https://docs.bigmodel.cn/cn/guide/start/quick-start",
			kind("zhipu-key", "API key", run(hex, 32).lit(".").n(alnum, 16)).near("zhipu", "bigmodel", "glm", "zai_api")),
		provider("Together", "https://docs.together.ai/docs/quickstart",
			kind("together-key", "API key", lit("tgp_v1_").n(url, 43)),
			kind("together-old-key", "API key", run(hex, 64)).near("together_", "togetherai", "together.")),
		provider("Fireworks", "https://docs.fireworks.ai/getting-started/quickstart",
			kind("fireworks-key", "API key", lit("fw_").span(alnum, 22, 26))),
		provider("ElevenLabs", "https://elevenlabs.io/docs/api-reference/authentication",
			kind("elevenlabs-key", "API key", lit("sk_").n(hex, 48))),
		provider("LangSmith", "https://docs.langchain.com/langsmith/create-account-api-key",
			kind("langsmith-pat", "personal access token", lit("lsv2_pt_").n(hex, 32).lit("_").n(hex, 10)),
			kind("langsmith-service", "service key", lit("lsv2_sk_").n(hex, 32).lit("_").n(hex, 10))),
		provider("Langfuse", "https://langfuse.com/docs/api",
			kind("langfuse-secret", "secret key", lit("sk-lf-").uuid())),
		provider("Pinecone", "https://docs.pinecone.io/guides/projects/manage-api-keys",
			kind("pinecone-key", "API key", lit("pcsk_").span(alnum, 4, 8).lit("_").span(alnum, 60, 70)),
			kind("pinecone-old-key", "API key", uuid()).near("pinecone")),
		provider("Weights & Biases", "https://docs.wandb.ai/support/find_api_key/",
			kind("wandb-key", "API key", lit("wandb_v1_").n(word, 77)),
			kind("wandb-old-key", "API key", run(hex, 40)).near("wandb")),
		provider("Cerebras", "https://inference-docs.cerebras.ai/quickstart",
			kind("cerebras-key", "API key", lit("csk-").n(lowerAlnum, 48))),
		provider("Voyage AI", "https://docs.voyageai.com/docs/api-key-and-installation",
			kind("voyage-key", "API key", lit("pa-").n(url, 43)).near("voyage")),
		provider("Jina", "https://jina.ai/api-dashboard/",
			kind("jina-key", "API key", lit("jina_").n(url, 60))),
		provider("NVIDIA", "https://docs.api.nvidia.com/nim/docs/api-quickstart",
			kind("nvidia-key", "API key", lit("nvapi-").n(url, 64))),
		provider("Stability AI", "https://platform.stability.ai/docs/getting-started/authentication",
			kind("stability-key", "API key", lit("sk-").n(alnum, 48)).near("stability")),
		provider("AssemblyAI", "https://www.assemblyai.com/docs/api-reference/overview",
			kind("assemblyai-key", "API key", run(hex, 32)).near("assemblyai", "assembly_ai")),
	)
}

// newModelRows are tokens of who serves models for others, or since lately.
func newModelRows() []Row {
	return slices.Concat(
		provider("MiniMax", "https://platform.minimax.io/docs/",
			kind("minimax-key", "API key", lit("sk-api-").n(url, 118))),
		provider("Upstage", "https://console.upstage.ai/docs/getting-started",
			kind("upstage-key", "API key", run(alnum, 40)).near("upstage")),
		provider("Ollama", "https://docs.ollama.com/api/authentication",
			kind("ollama-key", "API key", run(hex, 32).lit(".").n(url, 24)).near("ollama")),
		provider("Baseten", "https://docs.baseten.co/observability/api-keys",
			kind("baseten-key", "API key", run(alnum, 8).lit(".").n(alnum, 32)).near("baseten")),
		provider("Friendli", "https://friendli.ai/docs/openapi/introduction",
			kind("friendli-token", "access token", lit("flp_").n(alnum, 46))),
		provider("Photoroom", "https://docs.photoroom.com/getting-started/authentication",
			kind("photoroom-key", "API key", lit("sk_pr_").span(lowerAlnum|under, 41, 80))),
	)
}

// agentRows are tokens of what agents are built with.
func agentRows() []Row {
	return slices.Concat(
		provider("Deepgram", "https://developers.deepgram.com/docs/create-additional-api-keys",
			kind("deepgram-key", "API key", run(hex, 40)).near("deepgram")),
		provider("Cursor", "https://cursor.com/docs/account/teams/admin-api",
			kind("cursor-key", "API key", lit("key_").n(hex, 64))),
		provider("Tavily", "https://docs.tavily.com/documentation/quickstart",
			kind("tavily-dev", "development API key", lit("tvly-dev-").n(alnum, 32)),
			kind("tavily-key", "API key", lit("tvly-").n(alnum, 32))),
		provider("Firecrawl", "https://docs.firecrawl.dev/introduction",
			kind("firecrawl-key", "API key", lit("fc-").n(hex, 32))),
		provider("Exa", "https://docs.exa.ai/reference/getting-started",
			kind("exa-key", "API key", uuid()).near("exa_api", "exa-api", "exa_key")),
		provider("Modal", "https://modal.com/docs/reference/modal.config",
			kind("modal-secret", "token secret", lit("as-").n(alnum, 22)).near("modal", "token_secret")),
		provider("RunPod", "https://docs.runpod.io/get-started/api-keys",
			kind("runpod-key", "API key", lit("rpa_").span(alnum, 40, 46))),
		provider("E2B", "https://e2b.dev/docs/api-key",
			kind("e2b-key", "API key", lit("e2b_").n(hex, 40))),
		provider("Browserbase", "https://docs.browserbase.com/introduction/getting-started",
			kind("browserbase-key", "API key", lit("bb_live_").n(url, 27))),
		provider("Daytona", "https://www.daytona.io/docs/en/api-keys/",
			kind("daytona-key", "API key", lit("dtn_").n(hex, 64))),
		provider("Mem0", "https://docs.mem0.ai/platform/quickstart",
			kind("mem0-key", "API key", lit("m0-").n(alnum, 40))),
		provider("Helicone", "https://docs.helicone.ai/getting-started/quick-start",
			kind("helicone-key", "API key", lit("sk-helicone-").n(lowerAlnum, 7).lit("-").n(lowerAlnum, 7).lit("-").n(lowerAlnum, 7).lit("-").n(lowerAlnum, 7))),
		provider("LlamaIndex", "https://developers.llamaindex.ai/python/cloud/general/api_key/",
			kind("llamacloud-key", "LlamaCloud API key", lit("llx-").n(alnum, 48))),
	)
}
