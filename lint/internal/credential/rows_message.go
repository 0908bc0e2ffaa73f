package credential

import "slices"

// messageRows are tokens of who carries messages.
func messageRows() []Row {
	return slices.Concat(
		slackRows(),
		provider("Discord", "https://discord.com/developers/docs/reference#authentication",
			kind("discord-bot", "bot token", run(alnum, 24).span(alnum, 0, 4).lit(".").n(url, 6).lit(".").span(url, 27, 38)).near("discord", "bot_token", "bottoken"),
			kind("discord-webhook", "webhook address", lit("discord.com/api/webhooks/").span(digit, 17, 20).lit("/").span(url, 60, 80)),
			kind("discord-old-webhook", "webhook address", lit("discordapp.com/api/webhooks/").span(digit, 17, 20).lit("/").span(url, 60, 80))),
		provider("Telegram", "https://core.telegram.org/bots/api#authorizing-your-bot",
			kind("telegram-bot", "bot token", Shape{}.span(digit, 8, 10).lit(":AA").n(url, 33)),
			kind("telegram-old-bot", "bot token", Shape{}.span(digit, 5, 16).lit(":").n(url, 35)).near("telegram")),
		provider("Twilio", "https://www.twilio.com/docs/iam/api-keys",
			kind("twilio-key", "API key SID", lit("SK").n(hex, 32)),
			kind("twilio-account", "account SID", lit("AC").n(hex, 32)).mild(),
			kind("twilio-auth-token", "auth token", run(hex, 32)).near("twilio")),
		provider("SendGrid", "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
			kind("sendgrid-key", "API key", lit("SG.").n(url, 22).lit(".").n(url, 43))),
		provider("Mailgun", "https://documentation.mailgun.com/docs/mailgun/api-reference/mg-auth",
			kind("mailgun-key", "API key", lit("key-").n(hex, 32)),
			kind("mailgun-sending-key", "sending key", run(hex, 32).lit("-").n(hex, 8).lit("-").n(hex, 8)).near("mailgun")),
		provider("Mailchimp", "https://mailchimp.com/developer/marketing/docs/fundamentals/",
			kind("mailchimp-key", "API key", run(hex, 32).lit("-us").span(digit, 1, 2)),
			kind("mailchimp-transactional", "transactional API key", lit("md-").n(url, 22)).near("mandrill", "mailchimp")),
		provider("Postmark", "https://postmarkapp.com/developer/api/overview",
			kind("postmark-token", "server token", uuid()).near("postmark")),
		provider("Resend", "https://resend.com/docs/api-reference/introduction",
			kind("resend-key", "API key", lit("re_").n(alnum, 8).lit("_").n(alnum, 24))),
		provider("Brevo", "https://developers.brevo.com/docs/getting-started",
			kind("brevo-key", "API key", lit("xkeysib-").n(hex, 64).lit("-").n(alnum, 16)),
			kind("brevo-smtp-key", "SMTP key", lit("xsmtpsib-").n(hex, 64).lit("-").n(alnum, 16))),
	)
}

// customerRows are tokens of who keeps a firm in touch with its customers.
func customerRows() []Row {
	return slices.Concat(
		provider("MailerSend", "https://developers.mailersend.com/general.html",
			kind("mailersend-token", "API token", lit("mlsn.").n(hex, 64))),
		provider("SparkPost", "https://developers.sparkpost.com/api/",
			kind("sparkpost-key", "API key", run(hex, 40)).near("sparkpost")),
		provider("Microsoft Teams", "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook",
			kind("teams-webhook", "webhook address", lit("webhook.office.com/webhookb2/").uuid().lit("@").uuid().lit("/IncomingWebhook/").n(alnum, 32).lit("/").uuid()),
			kind("teams-old-webhook", "webhook address", lit("outlook.office.com/webhook/").uuid().lit("@").uuid().lit("/IncomingWebhook/").n(alnum, 32).lit("/").uuid())),
		provider("Google Chat", "https://developers.google.com/workspace/chat/quickstart/webhooks",
			kind("google-chat-webhook", "webhook address", lit("chat.googleapis.com/v1/spaces/").span(url, 8, 16).lit("/messages?key=").n(url, 39).lit("&token=").span(url|percent, 40, 60))),
		provider("Telnyx", "https://developers.telnyx.com/development/api-fundamentals/authentication",
			kind("telnyx-key", "API key", lit("KEY").n(hexUpper, 32).lit("_").n(alnum, 22))),
		provider("Vonage", "https://developer.vonage.com/en/concepts/guides/authentication",
			kind("vonage-secret", "API secret", run(alnum, 16)).near("vonage", "nexmo")),
		provider("MessageBird", "https://developers.messagebird.com/api/",
			kind("messagebird-key", "access key", run(alnum, 25)).near("messagebird", "message_bird")),
		provider("Courier", "https://www.courier.com/docs/reference/authentication",
			kind("courier-key", "API key", lit("pk_prod_").n(upperAlnum, 28))),
		provider("OneSignal", "https://documentation.onesignal.com/docs/keys-and-ids",
			kind("onesignal-app-key", "app API key", lit("os_v2_app_").n(lower|octal2, 103)),
			kind("onesignal-org-key", "organization API key", lit("os_v2_org_").n(lower|octal2, 103))),
		provider("Ably", "https://ably.com/docs/auth/basic",
			kind("ably-key", "API key", run(url, 6).lit(".").n(url, 6).lit(":").n(url, 43)).near("ably")),
		provider("Sendbird", "https://sendbird.com/docs/chat/platform-api/v3/prepare-to-use-api",
			kind("sendbird-token", "API token", run(hex, 40)).near("sendbird")),
		provider("Intercom", "https://developers.intercom.com/docs/build-an-integration/learn-more/authentication",
			kind("intercom-token", "access token", lit("dG9rO").span(base64, 50, 60).lit("="))),
		provider("Zendesk", "https://developer.zendesk.com/api-reference/introduction/security-and-auth/",
			kind("zendesk-token", "API token", run(alnum, 40)).near("zendesk")),
		provider("Freshdesk", "https://developers.freshdesk.com/api/#authentication",
			kind("freshdesk-key", "API key", run(alnum, 20)).near("freshdesk", "freshservice")),
		provider("Matrix", "https://element-hq.github.io/synapse/latest/",
			kind("matrix-token", "Synapse access token", lit("syt_").span(base64, 2, 60).lit("_").n(letter, 20).lit("_").n(alnum, 6))),
		provider("Klaviyo", "https://developers.klaviyo.com/en/docs/authenticate_",
			kind("klaviyo-key", "private API key", lit("pk_").n(hex, 34))),
		provider("Segment", "https://docs.segmentapis.com/tag/Getting-Started/",
			kind("segment-token", "Public API token", lit("sgp_").n(alnum, 64))),
		provider("PostHog", "https://posthog.com/docs/api",
			kind("posthog-key", "personal API key", lit("phx_").span(url, 43, 48))),
	)
}

func slackRows() []Row {
	return provider("Slack", "https://docs.slack.dev/authentication/tokens",
		kind("slack-bot", "bot token", lit("xoxb-").span(digit, 10, 13).lit("-").span(digit, 10, 13).lit("-").n(alnum, 24)),
		kind("slack-old-bot", "bot token", lit("xoxb-").span(digit, 8, 14).lit("-").span(alnum, 18, 26)),
		kind("slack-user", "user token", lit("xoxp-").span(digit, 10, 13).lit("-").span(digit, 10, 13).lit("-").span(digit, 10, 13).lit("-").span(alnum, 28, 34)),
		kind("slack-app", "app-level token", lit("xapp-").n(digit, 1).lit("-A").span(upperAlnum, 8, 12).lit("-").span(digit, 10, 13).lit("-").n(hex, 64)),
		kind("slack-rotated", "rotated token", lit("xoxe.xox").n(letter, 1).lit("-1-").span(base64, 140, 200)),
		kind("slack-refresh", "refresh token", lit("xoxe-1-").span(base64, 140, 160)),
		kind("slack-session", "session token", lit("xoxc-").span(digit, 10, 13).lit("-").span(digit, 10, 13).lit("-").span(digit, 10, 13).lit("-").n(hex, 64)),
		kind("slack-workspace", "workspace token", lit("xoxa-2-").span(digit, 8, 13).lit("-").span(digit, 8, 13).lit("-").span(digit, 8, 13).lit("-").span(hex, 10, 64)),
		kind("slack-legacy", "legacy token", lit("xoxs-").span(digit, 8, 13).lit("-").span(digit, 8, 13).lit("-").span(digit, 8, 13).lit("-").span(hex, 10, 64)),
		kind("slack-session-cookie", "session cookie", lit("xoxd-").span(url|base64|percent, 60, 300)),
		kind("slack-webhook", "webhook address", lit("hooks.slack.com/services/T").span(alnum, 8, 12).lit("/B").span(alnum, 8, 12).lit("/").n(alnum, 24)),
		kind("slack-workflow", "workflow webhook address", lit("hooks.slack.com/workflows/T").span(upperAlnum, 8, 12).lit("/A").span(upperAlnum, 8, 12).lit("/").span(digit, 15, 20).lit("/").n(alnum, 24)),
		kind("slack-trigger", "workflow trigger address", lit("hooks.slack.com/triggers/T").span(upperAlnum, 8, 12).lit("/").span(digit, 10, 14).lit("/").n(hex, 32)))
}
