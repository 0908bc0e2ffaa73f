package credential

import "slices"

// cloudRows are tokens of who runs machines.
func cloudRows() []Row {
	return slices.Concat(
		provider("AWS", "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
			kind("aws-access-key", "access key ID", lit("AKIA").n(base32, 16)).example("EXAMPLE"),
			kind("aws-temporary-key", "temporary access key ID", lit("ASIA").n(base32, 16)).example("EXAMPLE"),
			kind("aws-bearer-key", "service bearer token ID", lit("ABIA").n(base32, 16)),
			kind("aws-context-key", "context-specific credential ID", lit("ACCA").n(base32, 16)),
			kind("aws-appsync-key", "AppSync API key", lit("da2-").n(lowerAlnum, 26)),
			kind("aws-secret-key", "secret access key", run(base64, 40)).near("aws_secret", "secret_access_key", "secretaccesskey", "aws_sec", "awssecret").example("EXAMPLEKEY"),
			kind("aws-session-token", "session token", lit("IQoJb3JpZ2luX2Vj").span(padded, 100, 2000)).example("EXAMPLE"),
			kind("aws-bedrock-key", "Bedrock API key", lit("ABSK").span(padded, 109, 280)),
			kind("aws-bedrock-short-key", "short-term Bedrock API key", lit("bedrock-api-key-").span(padded, 80, 3000)),
			kind("aws-mws-token", "Marketplace token", lit("amzn.mws.").uuid())),
		provider("Google Cloud", "https://cloud.google.com/docs/authentication/api-keys",
			kind("google-api-key", "API key", lit("AIza").n(url, 35)),
			kind("google-bound-key", "API key of a service account", lit("AQ.Ab8").n(url, 47)),
			kind("google-oauth-secret", "OAuth client secret", lit("GOCSPX-").n(url, 28)),
			kind("google-oauth-token", "OAuth access token", lit("ya29.").span(url, 40, 1000)),
			kind("google-refresh-token", "OAuth refresh token", lit("1//0").span(url, 60, 120)),
			kind("google-fcm-key", "Firebase server key", lit("AAAA").n(url, 7).lit(":APA91b").n(url, 134))),
		provider("Alibaba Cloud", "https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair",
			kind("alibaba-access-key", "access key ID", lit("LTAI").span(alnum, 12, 20)),
			kind("alibaba-secret-key", "access key secret", run(alnum, 30)).near("alibaba", "aliyun", "alicloud")),
		provider("Tencent Cloud", "https://www.tencentcloud.com/document/product/598/34228",
			kind("tencent-secret-id", "secret ID", lit("AKID").n(alnum, 32)),
			kind("tencent-secret-key", "secret key", run(alnum, 32)).near("tencentcloud", "tencent_")),
		provider("DigitalOcean", "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
			kind("digitalocean-pat", "personal access token", lit("dop_v1_").n(hex, 64)),
			kind("digitalocean-oauth", "OAuth token", lit("doo_v1_").n(hex, 64)),
			kind("digitalocean-refresh", "OAuth refresh token", lit("dor_v1_").n(hex, 64))),
		provider("Linode", "https://techdocs.akamai.com/linode-api/reference/get-started",
			kind("linode-token", "personal access token", run(hex, 64)).near("linode")),
		provider("Vultr", "https://docs.vultr.com/platform/other/api",
			kind("vultr-key", "API key", run(upperAlnum, 36)).near("vultr")),
		provider("Hetzner", "https://docs.hetzner.com/cloud/api/getting-started/generating-api-token/",
			kind("hetzner-token", "API token", run(alnum, 64)).near("hetzner", "hcloud")),
		provider("Fly.io", "https://fly.io/docs/security/tokens/",
			kind("fly-macaroon", "access token", lit("fm2_").span(padded, 100, 3000)),
			kind("fly-root-macaroon", "root token", lit("fm1r_").span(padded, 100, 3000)),
			kind("fly-oauth", "personal token", lit("fo1_").n(url, 43))),
	)
}

// platformRows are tokens of who runs programs and hands them on.
func platformRows() []Row {
	return slices.Concat(
		provider("Heroku", "https://devcenter.heroku.com/articles/platform-api-reference",
			kind("heroku-key", "API key", lit("HRKU-AA").n(url, 58)),
			kind("heroku-uuid", "API key", uuid()).near("heroku")),
		provider("Render", "https://render.com/docs/api",
			kind("render-key", "API key", lit("rnd_").span(alnum, 24, 40))),
		provider("Railway", "https://docs.railway.com/reference/public-api",
			kind("railway-token", "API token", uuid()).near("railway")),
		provider("Vercel", "https://vercel.com/docs/cli/tokens",
			kind("vercel-pat", "personal access token", lit("vcp_").span(url, 24, 80)),
			kind("vercel-app", "app access token", lit("vca_").span(url, 24, 80)),
			kind("vercel-refresh", "app refresh token", lit("vcr_").span(url, 24, 80)),
			kind("vercel-integration", "integration token", lit("vci_").span(url, 24, 80)),
			kind("vercel-gateway", "AI Gateway key", lit("vck_").span(url, 24, 80)),
			kind("vercel-blob", "Blob token", lit("vercel_blob_rw_").n(alnum, 16).lit("_").n(alnum, 30)),
			kind("vercel-token", "access token", run(alnum, 24)).near("vercel_token", "vercel-token", "verceltoken", "vercel_api", "vercel_access")),
		provider("Netlify", "https://docs.netlify.com/api/get-started/",
			kind("netlify-pat", "personal access token", lit("nfp_").span(alnum, 34, 40)),
			kind("netlify-cli", "CLI token", lit("nfc_").span(alnum, 34, 40)),
			kind("netlify-oauth", "OAuth token", lit("nfo_").span(alnum, 34, 40)),
			kind("netlify-ui", "session token", lit("nfu_").span(alnum, 34, 40)),
			kind("netlify-build", "build token", lit("nfb_").span(alnum, 34, 40))),
		provider("Cloudflare", "https://developers.cloudflare.com/fundamentals/api/get-started/token-formats/",
			kind("cloudflare-user-token", "user API token", lit("cfut_").n(alnum, 40).n(hex, 8)),
			kind("cloudflare-account-token", "account API token", lit("cfat_").n(alnum, 40).n(hex, 8)),
			kind("cloudflare-global-key", "global API key", lit("cfk_").n(alnum, 40).n(hex, 8)),
			kind("cloudflare-origin-ca", "Origin CA key", lit("v1.0-").n(hex, 24).lit("-").n(hex, 146)),
			kind("cloudflare-token", "API token", run(url, 40)).near("cloudflare", "cf_api"),
			kind("cloudflare-old-key", "global API key", run(hex, 37)).near("cloudflare", "cf_api", "x-auth-key")),
	)
}

// regionalRows are tokens of the other clouds and networks.
func regionalRows() []Row {
	return slices.Concat(
		provider("IBM Cloud", "https://cloud.ibm.com/docs/account?topic=account-userapikey",
			kind("ibm-cloud-key", "API key", run(url, 44)).near("ibmcloud", "ibm_cloud", "ibm-cloud", "bluemix")),
		provider("Scaleway", "https://www.scaleway.com/en/docs/iam/how-to/create-api-keys/",
			kind("scaleway-secret-key", "secret key", uuid()).near("scaleway", "scw_secret")),
		provider("OVHcloud", "https://help.ovhcloud.com/csm/en-api-getting-started-ovhcloud-api",
			kind("ovh-secret", "application secret", run(alnum, 32)).near("ovh_", "ovhcloud")),
		provider("UpCloud", "https://upcloud.com/docs/guides/managing-api-tokens/",
			kind("upcloud-token", "API token", lit("ucat_").n(upperAlnum, 26))),
		provider("Exoscale", "https://community.exoscale.com/product/iam/quick-start/",
			kind("exoscale-secret", "API secret", run(url, 43)).near("exoscale")),
		provider("Yandex Cloud", "https://yandex.cloud/en/docs/iam/concepts/authorization/api-key",
			kind("yandex-api-key", "API key", lit("AQVN").span(url, 35, 38)),
			kind("yandex-oauth", "OAuth token", lit("y0_").n(url, 55)),
			kind("yandex-static-secret", "static key secret", lit("YCM").n(url, 37))),
		provider("Akamai", "https://techdocs.akamai.com/developer/docs/edgegrid",
			kind("akamai-token", "EdgeGrid token", lit("akab-").n(lowerAlnum, 16).lit("-").n(lowerAlnum, 16)),
			kind("akamai-client-secret", "client secret", run(base64, 43).lit("=")).near("akamai", "client_secret")),
		provider("Fastly", "https://www.fastly.com/documentation/reference/api/auth-tokens/",
			kind("fastly-token", "API token", run(url, 32)).near("fastly")),
		provider("Deno Deploy", "https://docs.deno.com/deploy/manual/",
			kind("deno-pat", "access token", lit("ddp_").n(alnum, 36)),
			kind("deno-org", "organisation token", lit("ddo_").n(alnum, 36))),
		provider("Civo", "https://www.civo.com/api",
			kind("civo-key", "API key", run(alnum, 50)).near("civo")),
	)
}

// azureRows are tokens of Microsoft Azure. Its newer keys carry a mark at a fixed
// place, that of the service.
func azureRows() []Row {
	return slices.Concat(
		provider("Azure", "https://learn.microsoft.com/en-us/purview/sit-defn-azure-storage-account-key",
			kind("azure-storage-key", "storage account key", run(base64, 76).lit("+ASt").n(base64, 6).lit("==")),
			kind("azure-cosmos-key", "Cosmos DB key", run(base64, 76).lit("ACDb").n(base64, 6).lit("==")),
			kind("azure-batch-key", "Batch account key", run(base64, 76).lit("+ABa").n(base64, 6).lit("==")),
			kind("azure-servicebus-key", "Service Bus key", run(base64, 33).lit("+ASb").n(base64, 6).lit("=")),
			kind("azure-eventhub-key", "Event Hub key", run(base64, 33).lit("+AEh").n(base64, 6).lit("=")),
			kind("azure-relay-key", "Relay key", run(base64, 33).lit("+ARm").n(base64, 6).lit("=")),
			kind("azure-iot-key", "IoT Hub key", run(base64, 33).lit("AIoT").n(base64, 6).lit("=")),
			kind("azure-redis-key", "Cache for Redis key", run(base64, 33).lit("AzCa").n(base64, 6).lit("=")),
			kind("azure-search-key", "AI Search key", run(alnum, 42).lit("AzSe").n(alnum, 6)),
			kind("azure-function-key", "function key", run(url, 44).lit("AzFu").n(url, 6).lit("==")),
			kind("azure-registry-key", "container registry key", run(base64, 42).lit("+ACR").n(base64, 6)),
			kind("azure-ai-key", "AI services key", run(alnum, 52).lit("JQQJ9").n(alnum, 27)),
			kind("azure-account-key", "account key", run(base64, 86).lit("==")).near("accountkey", "account_key", "storage_key", "cosmos"),
			kind("azure-sas", "shared access signature", lit("sig=").span(alnum|percent, 43, 70).lit("%3D"))),
		provider("Microsoft Entra", "https://learn.microsoft.com/en-us/entra/identity-platform/how-to-add-credentials",
			kind("entra-client-secret", "client secret", run(alnum|under|dot|tilde, 3).n(digit, 1).lit("Q~").span(url|dot|tilde, 31, 34))),
		provider("Azure DevOps", "https://learn.microsoft.com/en-us/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate",
			kind("azure-devops-pat", "personal access token", run(alnum, 76).lit("AZDO").n(alnum, 4)),
			kind("azure-devops-old-pat", "personal access token", run(lower|octal2, 52)).near("azure_devops", "azuredevops", "ado_pat", "vsts", "dev.azure.com")),
	)
}
