import { readFileSync } from "node:fs";

for (const row of JSON.parse(readFileSync("plan.json"))) {
  const value = process.env[row.name];
  const [kind, field] = row.place.split(":");
  const headers = {};
  let url = row.url + "/node", body;
  if (kind === "auth") headers.authorization = "Bearer " + value;
  if (kind === "token") headers.authorization = value;
  if (kind === "basic-user") headers.authorization = "Basic " + btoa(value + ":");
  if (kind === "basic-password") headers.authorization = "Basic " + btoa("bob:" + value);
  if (kind === "header") headers[field] = value;
  if (kind === "query") url += "?" + new URLSearchParams({ [field]: value });
  if (kind === "form") body = new URLSearchParams({ n: 1, [field]: value });
  if (kind === "json") {
    headers["content-type"] = "application/json";
    body = JSON.stringify({ n: 1, [field]: value });
  }
  const answer = await fetch(url, { method: body ? "POST" : "GET", headers, body });
  console.log(JSON.stringify([...answer.headers]), await answer.text());
}
