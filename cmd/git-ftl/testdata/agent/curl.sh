jq -r '.[] | [.name, .url, .place] | @tsv' plan.json | while read -r name url place; do
	eval "value=\$$name"
	field=${place#*:} url=$url/curl
	case $place in
	auth) curl -sSi -H "Authorization: Bearer $value" "$url" ;;
	token) curl -sSi -H "Authorization: $value" "$url" ;;
	basic-user) curl -sSi -u "$value:" "$url" ;;
	basic-password) curl -sSi -u "bob:$value" "$url" ;;
	header:*) curl -sSi -H "$field: $value" "$url" ;;
	query:*) curl -sSi -G --data-urlencode "$field=$value" "$url" ;;
	form:*) curl -sSi --data-urlencode n=1 --data-urlencode "$field=$value" "$url" ;;
	json:*) jq -n --arg k "$field" --arg v "$value" '{n: 1, ($k): $v}' | curl -sSi -H 'Content-Type: application/json' --data-binary @- "$url" ;;
	esac
done
