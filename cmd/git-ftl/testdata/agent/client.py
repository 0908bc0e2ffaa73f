import base64, json, os, urllib.parse, urllib.request

for row in json.load(open("plan.json")):
    value, url, head, body = os.environ[row["name"]], row["url"] + "/python", {}, None
    kind, _, field = row["place"].partition(":")
    if kind == "auth":
        head["Authorization"] = "Bearer " + value
    elif kind == "token":
        head["Authorization"] = value
    elif kind.startswith("basic"):
        pair = value + ":" if kind == "basic-user" else "bob:" + value
        head["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    elif kind == "header":
        head[field] = value
    elif kind == "query":
        url += "?" + urllib.parse.urlencode({field: value})
    elif kind == "form":
        body = urllib.parse.urlencode({"n": 1, field: value}).encode()
    elif kind == "json":
        head["Content-Type"] = "application/json"
        body = json.dumps({"n": 1, field: value}).encode()
    answer = urllib.request.urlopen(urllib.request.Request(url, body, head))
    print(answer.headers, answer.read().decode())
