package credential

import "slices"

// hostRows are tokens of who keeps, builds and tests code.
func hostRows() []Row {
	return slices.Concat(
		provider("GitHub", "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github",
			kind("github-pat", "personal access token", lit("ghp_").n(alnum, 36)).sealed(seal62),
			kind("github-oauth", "OAuth access token", lit("gho_").n(alnum, 36)).sealed(seal62),
			kind("github-user", "app user token", lit("ghu_").n(alnum, 36)).sealed(seal62),
			kind("github-installation", "app installation token", lit("ghs_").n(alnum, 36)).sealed(seal62),
			kind("github-installation-jwt", "app installation token", lit("ghs_").span(digit, 1, 12).lit("_eyJ").span(url|dot, 100, 2000)),
			kind("github-refresh", "refresh token", lit("ghr_").n(alnum, 76)),
			kind("github-fine-grained-pat", "fine-grained personal access token", lit("github_pat_").n(alnum, 22).lit("_").n(alnum, 59)),
			kind("github-old-token", "access token", run(hex, 40)).near("github_token", "github_pat", "gh_token", "github_oauth", "github_api")),
		gitlabRows(),
		provider("Bitbucket", "https://support.atlassian.com/bitbucket-cloud/docs/access-tokens/",
			kind("bitbucket-app-password", "app password", lit("ATBB").n(alnum, 32)),
			kind("bitbucket-access-token", "access token", lit("ATCTT3xFfG").span(url, 150, 240).lit("=").n(anyHex, 8)),
			kind("bitbucket-oauth-secret", "OAuth secret", run(alnum, 32)).near("bitbucket")),
		provider("Gitea", "https://docs.gitea.com/development/api-usage",
			kind("gitea-token", "access token", run(hex, 40)).near("gitea")),
		provider("Forgejo", "https://forgejo.org/docs/latest/user/api-usage/",
			kind("forgejo-token", "access token", run(hex, 40)).near("forgejo", "codeberg")),
		provider("Sourcegraph", "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token",
			kind("sourcegraph-token", "access token", lit("sgp_").n(anyHex, 16).lit("_").n(anyHex, 40)),
			kind("sourcegraph-local-token", "access token", lit("sgp_local_").n(anyHex, 40)),
			kind("sourcegraph-old-token", "access token", lit("sgp_").n(anyHex, 40))),
		provider("LaunchDarkly", "https://launchdarkly.com/docs/home/account/api",
			kind("launchdarkly-api", "API access token", lit("api-").uuid()).near("launchdarkly", "ld_api", "ld_access"),
			kind("launchdarkly-sdk", "server SDK key", lit("sdk-").uuid())),
		provider("Statsig", "https://docs.statsig.com/sdk-keys/api-keys",
			kind("statsig-secret", "server secret key", lit("secret-").n(alnum, 43))),
		provider("ConfigCat", "https://configcat.com/docs/sdk-reference/overview/",
			kind("configcat-key", "SDK key", lit("configcat-sdk-1/").n(url, 22).lit("/").n(url, 22)).mild()),
		provider("Flagsmith", "https://docs.flagsmith.com/clients/server-side",
			kind("flagsmith-key", "server key", lit("ser.").n(alnum, 22))),
	)
}

func gitlabRows() []Row {
	return provider("GitLab", "https://docs.gitlab.com/security/tokens/",
		kind("gitlab-pat", "personal access token", lit("glpat-").n(url, 20)),
		kind("gitlab-routable-pat", "personal access token", lit("glpat-").span(url, 27, 300).lit(".").n(lowerAlnum, 2).lit(".").n(lowerAlnum, 9)),
		kind("gitlab-deploy", "deploy token", lit("gldt-").n(url, 20)),
		kind("gitlab-runner", "runner token", lit("glrt-").n(url, 20)),
		kind("gitlab-routable-runner", "runner token", lit("glrt-t").n(digit, 1).lit("_").span(url, 20, 300)),
		kind("gitlab-runner-registration", "runner registration token", lit("glrtr-").n(url, 20)),
		kind("gitlab-old-registration", "runner registration token", lit("GR1348941").n(url, 20)),
		kind("gitlab-trigger", "pipeline trigger token", lit("glptt-").n(hex, 40)),
		kind("gitlab-feed", "feed token", lit("glft-").n(url, 20)),
		kind("gitlab-mail", "incoming mail token", lit("glimt-").n(url, 25)),
		kind("gitlab-agent", "Kubernetes agent token", lit("glagent-").n(url, 50)),
		kind("gitlab-job", "CI job token", lit("glcbt-").span(alnum, 1, 5).lit("_").n(url, 20)),
		kind("gitlab-scim", "SCIM token", lit("glsoat-").n(url, 20)),
		kind("gitlab-feature-flags", "feature flags client token", lit("glffct-").n(url, 20)),
		kind("gitlab-oauth-secret", "OAuth application secret", lit("gloas-").n(hex, 64)),
		kind("gitlab-session", "session cookie", lit("_gitlab_session=").n(lowerAlnum, 32)))
}

// ciRows are tokens of who builds and tests code.
func ciRows() []Row {
	return slices.Concat(
		provider("CircleCI", "https://circleci.com/docs/managing-api-tokens/",
			kind("circleci-pat", "personal API token", lit("CCIPAT_").n(alnum, 22).lit("_").n(hex, 40)),
			kind("circleci-project", "project API token", lit("CCIPRJ_").n(alnum, 22).lit("_").n(hex, 40)),
			kind("circleci-old-token", "API token", run(hex, 40)).near("circleci", "circle_token")),
		provider("Travis CI", "https://developer.travis-ci.com/authentication",
			kind("travis-token", "API token", run(url, 22)).near("travis_", "travis-ci", "travisci")),
		provider("Buildkite", "https://buildkite.com/docs/apis/managing-api-tokens",
			kind("buildkite-token", "API access token", lit("bkua_").n(hex, 40))),
		provider("Drone", "https://docs.drone.io/cli/setup/",
			kind("drone-token", "user token", run(alnum, 32)).near("drone_token", "drone-token", "droneci", "drone_rpc")),
		provider("Harness", "https://developer.harness.io/docs/platform/automation/api/add-and-manage-api-keys/",
			kind("harness-pat", "personal access token", lit("pat.").n(url, 22).lit(".").n(alnum, 24).lit(".").n(alnum, 20)),
			kind("harness-service", "service account token", lit("sat.").n(url, 22).lit(".").n(alnum, 24).lit(".").n(alnum, 20))),
		provider("Jenkins", "https://www.jenkins.io/doc/book/system-administration/authenticating-scripted-clients/",
			kind("jenkins-token", "API token", lit("11").n(hex, 32)).near("jenkins")),
		provider("TeamCity", "https://www.jetbrains.com/help/teamcity/configuring-your-user-profile.html",
			kind("teamcity-token", "access token", lit("eyJ0eXAiOiAiVENWMiJ9.").n(url, 36).lit(".").n(url, 48))),
		provider("JetBrains", "https://www.jetbrains.com/help/hub/personal-access-token.html",
			kind("jetbrains-token", "permanent token", lit("perm-").span(padded, 10, 60).lit(".").span(padded, 10, 60).lit(".").n(alnum, 30)),
			kind("jetbrains-legacy-token", "permanent token", lit("perm:").span(padded, 6, 60).lit(".").span(padded, 6, 60).lit(".").n(alnum, 30))),
		provider("AppVeyor", "https://www.appveyor.com/docs/api/",
			kind("appveyor-token", "API token", lit("v2.").n(lowerAlnum, 20)).near("appveyor")),
	)
}

// toolRows are tokens of what goes with building.
func toolRows() []Row {
	return slices.Concat(
		provider("Octopus Deploy", "https://octopus.com/docs/octopus-rest-api/how-to-create-an-api-key",
			kind("octopus-key", "API key", lit("API-").span(upperAlnum, 25, 32))),
		provider("Infracost", "https://www.infracost.io/docs/integrations/environment_variables/",
			kind("infracost-key", "API key", lit("ico-").n(alnum, 32)).near("infracost", "ico_")),
		provider("Apify", "https://docs.apify.com/platform/integrations/api",
			kind("apify-token", "API token", lit("apify_api_").n(alnum, 36))),
		provider("Spectral", "https://docs.checkpoint.com/cloudguard/spectral/",
			kind("spectral-key", "SpectralOps key", lit("spu-").n(hex, 32))),
		provider("OpenShift", "https://docs.redhat.com/en/documentation/openshift_container_platform/",
			kind("openshift-token", "OAuth access token", lit("sha256~").n(url, 43))),
		provider("Contribsys", "https://github.com/sidekiq/sidekiq/wiki/Commercial-FAQ",
			kind("sidekiq-login", "gem server login", run(hex, 8).lit(":").n(hex, 8)).near("contribsys")),
		provider("Codecov", "https://docs.codecov.com/docs/codecov-tokens",
			kind("codecov-token", "upload token", uuid()).near("codecov")),
		provider("Codacy", "https://docs.codacy.com/codacy-api/api-tokens/",
			kind("codacy-token", "API token", run(alnum, 20)).near("codacy")),
		provider("Prefect", "https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys",
			kind("prefect-user", "user API key", lit("pnu_").n(alnum, 36)),
			kind("prefect-service", "service API key", lit("pnb_").n(alnum, 36))),
		provider("ReadMe", "https://docs.readme.com/main/reference/intro/authentication",
			kind("readme-key", "API key", lit("rdme_").n(lowerAlnum, 70))),
		provider("GitBook", "https://gitbook.com/docs/developers/gitbook-api/authentication",
			kind("gitbook-token", "API token", lit("gb_api_").span(alnum, 36, 48))),
		provider("Postman", "https://learning.postman.com/docs/developer/postman-api/authentication/",
			kind("postman-key", "API key", lit("PMAK-").n(hex, 24).lit("-").n(hex, 34)),
			kind("postman-collection", "collection access key", lit("PMAT-").n(upperAlnum, 26))),
	)
}

// registryRows are tokens of who serves packages and images.
func registryRows() []Row {
	return slices.Concat(
		provider("npm", "https://docs.npmjs.com/about-access-tokens",
			kind("npm-token", "access token", lit("npm_").n(alnum, 36)).sealed(seal62),
			kind("npm-old-token", "access token", uuid()).near("_authtoken", "npm_token", "npm_auth")),
		provider("PyPI", "https://pypi.org/help/#apitoken",
			kind("pypi-token", "API token", lit("pypi-AgEIcHlwaS5vcmc").span(url, 50, 1000)),
			kind("pypi-test-token", "API token of the test index", lit("pypi-AgENdGVzdC5weXBpLm9yZw").span(url, 50, 1000))),
		provider("RubyGems", "https://guides.rubygems.org/api-key-scopes/",
			kind("rubygems-key", "API key", lit("rubygems_").n(hex, 48))),
		provider("crates.io", "https://doc.rust-lang.org/cargo/reference/publishing.html",
			kind("crates-token", "API token", lit("cio").n(alnum, 32))),
		provider("Docker", "https://docs.docker.com/security/access-tokens/",
			kind("docker-pat", "personal access token", lit("dckr_pat_").n(url, 27)),
			kind("docker-swarm", "Swarm join token", lit("SWMTKN-1-").n(lowerAlnum, 50).lit("-").n(lowerAlnum, 25)),
			kind("docker-oat", "organization access token", lit("dckr_oat_").span(url, 27, 40))),
		provider("NuGet", "https://learn.microsoft.com/en-us/nuget/nuget-org/publish-a-package",
			kind("nuget-key", "API key", lit("oy2").n(lowerAlnum, 43))),
		provider("JFrog", "https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens",
			kind("jfrog-key", "API key", lit("AKCp").n(alnum, 69)),
			kind("jfrog-reference", "reference token", lit("cmVmdGtu").n(alnum, 56)),
			kind("jfrog-identity", "identity token", run(alnum, 64)).near("jfrog", "artifactory", "bintray", "xray")),
		provider("Cloudsmith", "https://help.cloudsmith.io/docs/api-key",
			kind("cloudsmith-key", "API key", lit("csa_").n(alnum, 36)),
			kind("cloudsmith-old-key", "API key", run(hex, 40)).near("cloudsmith")),
		provider("Hex", "https://hex.pm/docs/publish",
			kind("hex-key", "API key", run(hex, 32)).near("hex_api_key", "hexpm")),
		provider("Clojars", "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens",
			kind("clojars-token", "deploy token", lit("CLOJARS_").n(hex, 60))),
		provider("Packagist", "https://packagist.com/docs/composer-authentication",
			kind("packagist-read", "organization read token", lit("packagist_ort_").n(hex, 68)),
			kind("packagist-user", "user read token", lit("packagist_uut_").n(hex, 68))),
		provider("Quay", "https://docs.quay.io/glossary/robot-accounts.html",
			kind("quay-robot", "robot token", run(upperAlnum, 64)).near("quay")),
	)
}
