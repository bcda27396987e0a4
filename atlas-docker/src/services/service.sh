#!/bin/bash
# service KIND PORT [NAME=VALUE...]: starts a program that tests talk to, on this machine's own address, and
# waits until it answers. It begins empty, whatever an earlier run left in it; what it keeps and what it says
# lie in a folder of its own. NAME is user, password, database or root_password; of a sentinel, master (a name)
# and primary (the port that it watches); of a program of the repository's, command, which runs in its folder.
set -u
kind=$1 port=$2
shift 2
command='' user='' password='' database='' root_password='' master=mymaster primary=6379
for setting; do
  case ${setting%%=*} in
    command | user | password | database | root_password | master | primary) declare "${setting%%=*}=${setting#*=}" ;;
    *) echo "service: $setting: not known" >&2; exit 2 ;;
  esac
done
here=${TMPDIR:-/tmp}/atlas-services/$kind-$port
for folder in /usr/lib/postgresql/*/bin /usr/lib/rabbitmq/bin /usr/sbin; do
  [ -d "$folder" ] && PATH=$PATH:$folder
done

# As root, which an evaluation script may be, most of them refuse to run.
drop=()
if [ "$(id -u)" = 0 ]; then drop=(setpriv --reuid=1000 --regid=1000 --clear-groups); fi
as() { HOME=$here "${drop[@]}" "$@"; }

# The place where clients look for a socket, if it can be written.
socket_folder() { if as test -w "$1"; then echo "$1"; else echo "$here"; fi; }
start() { ( HOME=$here exec setsid "${drop[@]}" "$@" </dev/null >"$here/log" 2>&1 ) & echo $! >"$here/pid"; }
program() {
  command -v "$1" >/dev/null && return
  echo "atlas: $kind is not started: $1 is not installed"
  exit 0
}
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
sql() { as mariadb --no-defaults --socket="$socket" --user=root "$@"; }
quoted() { printf "'%s'" "${1//\'/\'\'}"; }

stop() {
  local old
  old=$(cat "$here/pid" 2>/dev/null) || return 0
  kill "$old" 2>/dev/null
  for _ in {1..100}; do kill -0 "$old" 2>/dev/null || return 0; sleep 0.1; done
  kill -9 "$old" 2>/dev/null
}
stop
rm -rf "$here"
mkdir -p "$here/data"
if [ ${#drop[@]} -gt 0 ]; then chown -R 1000:1000 "$here"; fi
cd "$here" || exit 1

# The tests' own settings are for the tests' own clients.
unset PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE PGSERVICE PGSSLMODE MYSQL_HOST MYSQL_PWD MYSQL_TCP_PORT

case $kind in
  postgres)
    program postgres
    user=${user:-postgres}
    socket=$(socket_folder /run/postgresql)
    host=trust
    if [ -n "$password" ]; then host=scram-sha-256; fi
    (umask 077 && printf '%s\n' "${password:-unused}" >secret)
    if [ ${#drop[@]} -gt 0 ]; then chown 1000:1000 secret; fi
    as initdb -D data -U "$user" --pwfile=secret --auth-local=trust --auth-host="$host" -E UTF8 \
      --locale=C.UTF-8 --no-sync >log 2>&1 || { tail -n 20 log; exit 1; }
    start postgres -D data -p "$port" -k "$socket" -c listen_addresses=localhost -c fsync=off \
      -c synchronous_commit=off -c full_page_writes=off -c max_connections=200
    answers() { as pg_isready -q -h "$socket" -p "$port"; }
    prepare() {
      database=${database:-$user}
      if [ "$database" = postgres ]; then return; fi
      as createdb -h "$socket" -p "$port" -U "$user" "$database"
    }
    ;;
  mariadb)
    program mariadbd
    # Clients look for one socket, whatever the port.
    socket=$here
    if [ "$port" = 3306 ]; then socket=$(socket_folder /run/mysqld); fi
    socket=$socket/mysqld.sock
    as mariadb-install-db --no-defaults --datadir="$here/data" --auth-root-authentication-method=normal \
      --skip-test-db >log 2>&1 || { tail -n 20 log; exit 1; }
    start mariadbd --no-defaults --datadir="$here/data" --port="$port" --bind-address=localhost \
      --socket="$socket" --pid-file="$here/own-pid" --character-set-server=utf8mb4 \
      --innodb-flush-log-at-trx-commit=0 --max-connections=200
    answers() { as mariadb-admin --no-defaults --socket="$socket" --user=root ping >/dev/null 2>&1; }
    prepare() {
      {
        echo "DELETE FROM mysql.global_priv WHERE User = ''; FLUSH PRIVILEGES;"
        if [ -n "$database" ]; then echo "CREATE DATABASE IF NOT EXISTS \`$database\`;"; fi
        if [ -n "$user" ] && [ "$user" != root ]; then
          echo "CREATE USER $(quoted "$user")@'%' IDENTIFIED BY $(quoted "$password");"
          echo "GRANT ALL ON *.* TO $(quoted "$user")@'%' WITH GRANT OPTION;"
        fi
        # `mysql -e …` of a CI whose own account may do all, as Travis' may.
        own=$(as id -un)
        if [ "$own" != root ] && [ "$own" != "$user" ]; then
          echo "CREATE USER $(quoted "$own")@localhost IDENTIFIED VIA unix_socket;"
          echo "GRANT ALL ON *.* TO $(quoted "$own")@localhost WITH GRANT OPTION;"
        fi
        echo "CREATE USER root@'%' IDENTIFIED BY $(quoted "$root_password");"
        echo "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;"
        echo "ALTER USER root@localhost IDENTIFIED BY $(quoted "$root_password");"
      } | sql
    }
    ;;
  redis)
    program redis-server
    secret=()
    if [ -n "$password" ]; then secret=(--requirepass "$password"); fi
    # Clients look for one socket, whatever the port.
    socket=()
    if [ "$port" = 6379 ]; then socket=(--unixsocket "$(socket_folder /tmp)/redis.sock" --unixsocketperm 777); fi
    start redis-server --port "$port" --bind 127.0.0.1 -::1 --dir "$here/data" --save '' --appendonly no \
      --enable-debug-command local "${socket[@]}" "${secret[@]}"
    ;;
  sentinel)
    program redis-server
    printf '%s\n' "sentinel monitor $master 127.0.0.1 $primary 1" >sentinel.conf
    if [ ${#drop[@]} -gt 0 ]; then chown 1000:1000 sentinel.conf; fi
    start redis-server "$here/sentinel.conf" --sentinel --port "$port" --bind 127.0.0.1 -::1 --dir "$here/data"
    ;;
  memcached)
    program memcached
    start memcached -l 127.0.0.1 -p "$port"
    ;;
  rabbitmq)
    program rabbitmq-server
    printf '%s\n' "listeners.tcp.default = $port" 'loopback_users = none' \
      "default_user = ${user:-guest}" "default_pass = ${password:-guest}" >rabbitmq.conf
    export RABBITMQ_CONFIG_FILE=$here/rabbitmq.conf RABBITMQ_MNESIA_BASE=$here/data
    export RABBITMQ_NODENAME=atlas@localhost RABBITMQ_LOG_BASE=$here RABBITMQ_PID_FILE=$here/own-pid
    export RABBITMQ_ENABLED_PLUGINS_FILE=$here/plugins ERL_EPMD_ADDRESS=127.0.0.1
    start /usr/lib/rabbitmq/bin/rabbitmq-server
    ;;
  mosquitto)
    program mosquitto
    start mosquitto -p "$port"
    ;;
  nats)
    program nats-server
    start nats-server -a localhost -p "$port" -js -sd "$here/data"
    ;;
  beanstalkd)
    program beanstalkd
    start beanstalkd -l 127.0.0.1 -p "$port"
    ;;
  etcd)
    program etcd
    start etcd --data-dir "$here/data" --listen-client-urls "http://localhost:$port" \
      --advertise-client-urls "http://localhost:$port"
    ;;
  command)
    log=$here/log
    (cd "$ATLAS_REPO" && exec setsid "${drop[@]}" bash -c "$command" </dev/null >"$log" 2>&1) &
    echo $! >"$here/pid"
    ;;
  smtp)
    if ! /usr/bin/python3 -c 'import aiosmtpd' 2>/dev/null; then program aiosmtpd; fi
    start /usr/bin/python3 -m aiosmtpd -n -l "127.0.0.1:$port" -c aiosmtpd.handlers.Sink
    ;;
  *)
    echo "service: $kind: not known" >&2
    exit 2
    ;;
esac
if ! declare -F answers >/dev/null; then answers() { listens; }; fi

SECONDS=0
until answers; do
  if ! kill -0 "$(cat pid)" 2>/dev/null || [ "$SECONDS" -ge 90 ]; then
    echo "atlas: $kind does not answer on port $port after $SECONDS s. The end of what it said:"
    tail -n 20 log
    # Tests that need one of the repository's own programs fail; others do not.
    if [ "$kind" = command ]; then exit 0; fi
    exit 1
  fi
  sleep 0.1
done
if declare -F prepare >/dev/null && ! said=$(prepare 2>&1); then
  echo "atlas: $kind answers, but could not be set up: $said"
  exit 1
fi
