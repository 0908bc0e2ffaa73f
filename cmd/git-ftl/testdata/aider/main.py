# Asks the model as aider does, over TLS with the key of the environment, and writes
# what it answers: "NAME TEXT" is a file.
import argparse
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import small_native
from aider import repomap


def get_parser(default_config_files, git_root):
    for name in default_config_files:
        if os.path.exists(name):
            print("settings of", name)
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ["message-file", "chat-history-file", "input-history-file", "alias", "model", "env-file"]:
        parser.add_argument("--" + name)
    for name in ["yes-always", "no-auto-commits", "no-dirty-commits", "no-pretty", "no-stream", "no-check-update", "no-show-release-notes",
                 "analytics-disable", "no-show-model-warnings", "no-gitignore", "no-suggest-shell-commands", "no-detect-urls"]:
        parser.add_argument("--" + name, action="store_true")
    return parser


def generate_search_path_list(default_file, git_root, command_line_file):
    return [os.path.join(git_root, default_file)]


def ask(task):
    body = {"model": "x", "max_tokens": 9, "messages": [{"role": "user", "content": task}]}
    request = urllib.request.Request("https://api.anthropic.com/v1/messages", json.dumps(body).encode(), {
        "x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json",
    })
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"][0]["text"]


def main():
    root = os.getcwd()
    args = get_parser([os.path.join(root, ".aider.conf.yml")], root).parse_args()
    for name in [".env", ".aider.model.settings.yml"]:
        for found in generate_search_path_list(name, root, args.env_file):
            if os.path.exists(found):
                print("settings of", found)
    prices = os.path.expanduser("~/.aider/caches/model_prices_and_context_window.json")
    if time.time() - os.stat(prices).st_mtime < 86400 and json.load(open(prices)):
        print("prices are fresh")
    os.makedirs(os.path.join(root, repomap.RepoMap.TAGS_CACHE_DIR))
    print("path", sys.path[-1], "on", small_native.machine)
    with open(args.message_file) as f:
        task = f.read()
    try:
        text = ask(task)
    except urllib.error.HTTPError as err:
        print("litellm.AuthenticationError: AnthropicException -", err.read().decode().strip())
        print("The API provider is not able to authenticate you. Check your API key.")
        return
    name, _, content = text.partition(" ")
    with open(name, "w") as f:
        f.write(content + "\n")
    print("Tokens: 1.5k sent, 20 received. Cost: $0.01 message, $0.02 session.")
    print("Applied edit to", name)
    print(subprocess.run([sys.executable, "-m", "flake8", "--isolated", name], capture_output=True, text=True, cwd=root).stdout.strip())
