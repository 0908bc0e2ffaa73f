package credential

import "slices"

// monitorRows are tokens of who watches programs run.
func monitorRows() []Row {
	return slices.Concat(
		provider("Datadog", "https://docs.datadoghq.com/account_management/api-app-keys/",
			kind("datadog-api-key", "API key", run(hex, 32)).near("datadog", "dd_api", "dd-api"),
			kind("datadog-app-key", "application key", run(hex, 40)).near("datadog", "dd_app", "dd-app"),
			kind("datadog-scoped-key", "application key", lit("ddapp_").n(alnum, 34))),
		provider("New Relic", "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
			kind("newrelic-user", "user key", lit("NRAK-").n(upperAlnum, 27)),
			kind("newrelic-insert", "insert key", lit("NRII-").n(url, 32)),
			kind("newrelic-query", "query key", lit("NRIQ-").n(url, 32)),
			kind("newrelic-admin", "admin key", lit("NRAA-").n(hex, 27)),
			kind("newrelic-license", "licence key", run(hex, 36).lit("NRAL"))),
		provider("Sentry", "https://docs.sentry.io/account/auth-tokens/",
			kind("sentry-org", "organization token", lit("sntrys_eyJ").span(padded, 80, 400).lit("_").n(base64, 43)),
			kind("sentry-user", "user token", lit("sntryu_").n(hex, 64)),
			kind("sentry-old-token", "auth token", run(hex, 64)).near("sentry_auth", "sentry-auth", "sentry_token")),
		provider("Grafana", "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
			kind("grafana-service", "service account token", lit("glsa_").n(alnum, 32).lit("_").n(hex, 8)).sealed(seal16),
			kind("grafana-cloud", "Cloud access policy token", lit("glc_").span(padded, 60, 400)),
			kind("grafana-old-key", "API key", lit("eyJrIjoi").span(padded, 60, 400))),
		provider("Honeycomb", "https://docs.honeycomb.io/configure/environments/manage-api-keys/",
			kind("honeycomb-ingest", "ingest key", lit("hcaik_").n(lowerAlnum, 58)),
			kind("honeycomb-key", "API key", run(alnum, 22)).near("honeycomb")),
		provider("PagerDuty", "https://support.pagerduty.com/main/docs/api-access-keys",
			kind("pagerduty-key", "REST API key", run(url|plus, 20)).near("pagerduty", "pager_duty")),
		provider("Rollbar", "https://docs.rollbar.com/docs/access-tokens",
			kind("rollbar-token", "access token", run(hex, 32)).near("rollbar")),
		provider("Dynatrace", "https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients/access-tokens",
			kind("dynatrace-token", "access token", lit("dt0c01.").n(base32, 24).lit(".").n(base32, 64)),
			kind("dynatrace-oauth", "OAuth client secret", lit("dt0s02.").n(base32, 8).lit(".").n(base32, 64)),
			kind("dynatrace-platform", "platform token", lit("dt0s16.").n(base32, 8).lit(".").n(base32, 64))),
		provider("Splunk", "https://docs.splunk.com/Documentation/Splunk/latest/Data/UsetheHTTPEventCollector",
			kind("splunk-hec", "HTTP event collector token", uuid()).near("splunk")),
	)
}

// logRows are tokens of who keeps logs and counts events.
func logRows() []Row {
	return slices.Concat(
		provider("Sumo Logic", "https://www.sumologic.com/help/docs/manage/security/access-keys/",
			kind("sumologic-key", "access key", run(alnum, 64)).near("sumologic", "sumo_")),
		provider("Loggly", "https://documentation.solarwinds.com/en/success_center/loggly/content/admin/customer-token-authentication-token.htm",
			kind("loggly-token", "customer token", uuid()).near("loggly")),
		provider("Better Stack", "https://betterstack.com/docs/logs/api/getting-started/",
			kind("betterstack-token", "source token", run(alnum, 24)).near("logtail", "betterstack", "better_stack")),
		provider("Bugsnag", "https://docs.bugsnag.com/api/error-reporting/",
			kind("bugsnag-key", "API key", run(hex, 32)).near("bugsnag").mild()),
		provider("Opsgenie", "https://support.atlassian.com/opsgenie/docs/api-key-management/",
			kind("opsgenie-key", "API key", uuid()).near("opsgenie")),
		provider("Checkly", "https://www.checklyhq.com/docs/accounts-and-users/creating-api-key/",
			kind("checkly-key", "user API key", lit("cu_").n(hex, 32))),
		provider("UptimeRobot", "https://uptimerobot.com/api/",
			kind("uptimerobot-key", "API key", lit("u").span(digit, 6, 9).lit("-").n(hex, 24)).near("uptimerobot", "uptime_robot")),
		provider("Axiom", "https://axiom.co/docs/reference/tokens",
			kind("axiom-api", "API token", lit("xaat-").uuid()),
			kind("axiom-pat", "personal access token", lit("xapt-").uuid())),
		provider("Rootly", "https://docs.rootly.com/api-reference/overview",
			kind("rootly-key", "API key", lit("rootly_").n(hex, 64))),
		provider("Logz.io", "https://api-docs.logz.io/docs/logz/logz-io-api/",
			kind("logzio-token", "token", run(letter, 32)).near("logzio", "logz.io", "logz_io")),
		provider("Amplitude", "https://amplitude.com/docs/apis/authentication",
			kind("amplitude-secret", "secret key", run(hex, 32)).near("amplitude")),
		provider("Mixpanel", "https://developer.mixpanel.com/reference/service-accounts-api",
			kind("mixpanel-secret", "service account secret", run(alnum, 32)).near("mixpanel")),
	)
}

// dataRows are tokens of who keeps data.
func dataRows() []Row {
	return slices.Concat(
		provider("MongoDB Atlas", "https://www.mongodb.com/docs/atlas/configure-api-access/",
			kind("atlas-service-secret", "service account secret", lit("mdb_sa_sk_").n(url, 40)),
			kind("atlas-private-key", "private API key", uuid()).near("atlas_", "mongodb_atlas", "mcli_")),
		provider("PlanetScale", "https://planetscale.com/docs/api/reference/service-tokens",
			kind("planetscale-token", "service token", lit("pscale_tkn_").span(url, 32, 64)),
			kind("planetscale-oauth", "OAuth token", lit("pscale_oauth_").span(url, 32, 64)),
			kind("planetscale-password", "database password", lit("pscale_pw_").span(url, 32, 64))),
		provider("Supabase", "https://supabase.com/docs/guides/api/api-keys",
			kind("supabase-pat", "personal access token", lit("sbp_").n(hex, 40)),
			kind("supabase-secret", "secret key", lit("sb_secret_").n(url, 22).lit("_").n(url, 8))),
		provider("Databricks", "https://docs.databricks.com/aws/en/dev-tools/auth/pat",
			kind("databricks-pat", "personal access token", lit("dapi").n(hex, 32)),
			kind("databricks-oauth", "OAuth secret", lit("dose").n(hex, 32))),
		provider("Confluent", "https://docs.confluent.io/cloud/current/security/authenticate/workload-identities/service-accounts/api-keys/overview.html",
			kind("confluent-secret", "API secret", lit("cflt").n(base64, 60)),
			kind("confluent-old-secret", "API secret", run(base64, 64)).near("confluent", "kafka_api_secret")),
		provider("Algolia", "https://www.algolia.com/doc/guides/security/api-keys/",
			kind("algolia-key", "API key", run(hex, 32)).near("algolia")),
		provider("Elastic", "https://www.elastic.co/docs/deploy-manage/api-keys/elasticsearch-api-keys",
			kind("elastic-key", "API key", run(base64, 58).lit("==")).near("elastic"),
			kind("elastic-cloud-key", "Cloud API key", lit("essu_").span(padded, 60, 120))),
		provider("Airtable", "https://airtable.com/developers/web/guides/personal-access-tokens",
			kind("airtable-pat", "personal access token", lit("pat").n(alnum, 14).lit(".").n(hex, 64)),
			kind("airtable-old-key", "API key", lit("key").n(alnum, 14)).near("airtable")),
		provider("Neon", "https://neon.com/docs/manage/api-keys",
			kind("neon-key", "API key", lit("napi_").n(lowerAlnum, 64))),
		provider("Fauna", "https://docs.faunadb.org/fauna/current/learn/security/keys/",
			kind("fauna-key", "secret", lit("fnA").span(url, 37, 43)).near("fauna")),
	)
}

// placeRows are tokens of the other stores, and of maps and weather.
func placeRows() []Row {
	return slices.Concat(
		provider("Xata", "https://xata.io/docs",
			kind("xata-key", "API key", lit("xau_").span(alnum, 32, 40))),
		provider("CockroachDB", "https://www.cockroachlabs.com/docs/cockroachcloud/managing-access",
			kind("cockroach-key", "API key", lit("CCDB1_").n(alnum, 22).lit("_").n(alnum, 40))),
		provider("ClickHouse", "https://clickhouse.com/docs/cloud/manage/openapi",
			kind("clickhouse-secret", "Cloud key secret", lit("4b1d").n(alnum, 38))),
		provider("InfluxDB", "https://docs.influxdata.com/influxdb/v2/admin/tokens/",
			kind("influx-token", "API token", run(url, 86).lit("==")).near("influx")),
		provider("DataStax", "https://docs.datastax.com/en/astra-db-serverless/administration/manage-application-tokens.html",
			kind("astra-token", "Astra application token", lit("AstraCS:").n(alnum, 24).lit(":").n(hex, 64))),
		provider("Upstash", "https://upstash.com/docs/devops/developer-api/introduction",
			kind("upstash-key", "management API key", uuid()).near("upstash")),
		provider("Mapbox", "https://docs.mapbox.com/help/glossary/access-token/",
			kind("mapbox-secret", "secret access token", lit("sk.eyJ").span(url, 60, 200).lit(".").n(url, 22))),
		provider("MaxMind", "https://dev.maxmind.com/license-key-formats/",
			kind("maxmind-key", "licence key", run(alnum, 6).lit("_").n(alnum, 29).lit("_mmk"))),
		provider("RapidAPI", "https://docs.rapidapi.com/docs/keys-and-key-rotation",
			kind("rapidapi-key", "API key", run(lowerAlnum, 10).lit("msh").n(lowerAlnum, 15).lit("p1").n(lowerAlnum, 6).lit("jsn").span(lowerAlnum, 11, 12))),
		provider("HERE", "https://www.here.com/docs/bundle/identity-and-access-management-developer-guide/page/README.html",
			kind("here-key", "API key", run(url, 43)).near("here_api", "heremaps", "here_maps")),
		provider("OpenWeather", "https://openweathermap.org/appid",
			kind("openweather-key", "API key", run(hex, 32)).near("openweather", "owm_api")),
		provider("NASA", "https://api.nasa.gov/",
			kind("nasa-key", "API key", run(alnum, 40)).near("nasa_api", "nasa-api", "api.nasa.gov")),
		provider("Mapillary", "https://www.mapillary.com/developer/api-documentation",
			kind("mapillary-token", "access token", lit("MLY|").span(digit, 14, 20).lit("|").n(hex, 32))),
	)
}
