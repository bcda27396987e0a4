//! What the distribution has of the programs that run beside tests.

use crate::ci::Job;
use crate::ci::is_plain;
use regex::Regex;
use std::sync::LazyLock;

/// A program that `service.sh` can start.
#[derive(Debug)]
pub(crate) struct Kind {
    /// What `service.sh` calls it.
    pub(crate) name: &'static str,
    /// The port on which it answers by itself.
    pub(crate) port: u16,
    /// The distribution's package.
    package: &'static str,
    /// Words in the last part of an image's path that mean this program.
    words: &'static [&'static str],
    /// The folder in which its clients look for a socket.
    pub(crate) folder: Option<&'static str>,
    /// Settings of `service.sh`, each with the names that images and actions have for it, without case, `_` and `-`.
    pub(crate) settings: &'static [(&'static str, &'static [&'static str])],
    /// Its clients on the command line, which CI sets it up with.
    clients: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        name: "postgres",
        port: 5432,
        package: "postgresql",
        words: &[
            "postgres",
            "postgresql",
            "postgis",
            "pgvector",
            "timescaledb",
        ],
        folder: Some("/run/postgresql"),
        settings: &[
            (
                "user",
                &[
                    "postgresuser",
                    "postgresqluser",
                    "postgresqlusername",
                    "username",
                    "user",
                ],
            ),
            (
                "password",
                &["postgrespassword", "postgresqlpassword", "password"],
            ),
            (
                "database",
                &[
                    "postgresdb",
                    "postgresqldb",
                    "postgresqldatabase",
                    "database",
                    "db",
                ],
            ),
        ],
        clients: &["psql", "createdb", "createuser", "dropdb"],
    },
    Kind {
        name: "mariadb",
        port: 3306,
        package: "mariadb-server",
        words: &["mysql", "mariadb", "percona"],
        folder: Some("/run/mysqld"),
        settings: &[
            ("user", &["mysqluser", "mariadbuser", "user"]),
            (
                "password",
                &["mysqlpassword", "mariadbpassword", "password"],
            ),
            (
                "database",
                &["mysqldatabase", "mariadbdatabase", "database"],
            ),
            (
                "root_password",
                &["mysqlrootpassword", "mariadbrootpassword", "rootpassword"],
            ),
        ],
        clients: &["mysql", "mariadb", "mysqladmin"],
    },
    Kind {
        name: "sentinel",
        port: 26379,
        package: "redis-server",
        words: &["sentinel"],
        folder: None,
        settings: &[
            ("master", &["master", "redismasterset"]),
            ("primary", &["primary", "redismasterportnumber"]),
        ],
        clients: &[],
    },
    Kind {
        name: "redis",
        port: 6379,
        package: "redis-server",
        words: &["redis", "valkey", "keydb"],
        folder: None,
        settings: &[("password", &["redispassword", "password"])],
        clients: &["redis-cli"],
    },
    Kind {
        name: "memcached",
        port: 11211,
        package: "memcached",
        words: &["memcached", "memcache"],
        folder: None,
        settings: &[],
        clients: &[],
    },
    Kind {
        name: "rabbitmq",
        port: 5672,
        package: "rabbitmq-server",
        words: &["rabbitmq"],
        folder: None,
        settings: &[
            ("user", &["rabbitmqdefaultuser"]),
            ("password", &["rabbitmqdefaultpass"]),
        ],
        clients: &[],
    },
    Kind {
        name: "mosquitto",
        port: 1883,
        package: "mosquitto",
        words: &["mosquitto"],
        folder: None,
        settings: &[],
        clients: &[],
    },
    Kind {
        name: "nats",
        port: 4222,
        package: "nats-server",
        words: &["nats"],
        folder: None,
        settings: &[],
        clients: &[],
    },
    Kind {
        name: "beanstalkd",
        port: 11300,
        package: "beanstalkd",
        words: &["beanstalkd", "beanstalk"],
        folder: None,
        settings: &[],
        clients: &[],
    },
    Kind {
        name: "etcd",
        port: 2379,
        package: "etcd-server",
        words: &["etcd"],
        folder: None,
        settings: &[],
        clients: &[],
    },
    Kind {
        name: "smtp",
        port: 1025,
        package: "python3-aiosmtpd",
        words: &[
            "mailhog",
            "mailpit",
            "maildev",
            "mailcatcher",
            "smtp4dev",
            "smtp",
        ],
        folder: None,
        settings: &[],
        clients: &[],
    },
];

/// What only watches or manages a database is none.
const BESIDES: &[&str] = &[
    "exporter",
    "admin",
    "commander",
    "insight",
    "ui",
    "backup",
    "client",
    "proxy",
    "cluster",
];

impl Kind {
    /// The program that an image, or a service's own word for one, runs.
    pub(crate) fn of(image: &str) -> Option<&'static Self> {
        let image = image.trim().trim_start_matches("docker://");
        let image = image.split('@').next().unwrap_or(image);
        let last = image.rsplit('/').next().unwrap_or(image);
        let name = last.split(':').next().unwrap_or(last).to_ascii_lowercase();
        let words: Vec<&str> = name.split(['-', '_', '.']).collect();
        if words.iter().any(|word| BESIDES.contains(word)) {
            return None;
        }
        let means = |kind: &&Self| words.iter().any(|word| kind.words.contains(word));
        KINDS.iter().find(means)
    }

    /// The program of a name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// The program that answers on a port by itself.
    pub(super) fn at(port: u16) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.port == port)
    }

    /// The distribution's packages for an image.
    pub(crate) fn packages(&self, image: &str) -> Vec<&'static str> {
        let mut packages = vec![self.package];
        if image.contains("postgis") {
            packages.push("postgresql-postgis");
        } else if image.contains("pgvector") {
            packages.push("postgresql-15-pgvector");
        }
        packages
    }

    /// What differs from CI's, for readers of a plan.
    pub(crate) fn stands_for(&self, image: &str) -> Option<String> {
        let same = image == self.name || matches!(self.name, "smtp" | "memcached");
        (!same).then(|| {
            let own = self.package;
            format!("the distribution's {own} stands for {image}, whatever its version")
        })
    }

    /// The commands of a job that use this program's own clients: they make roles, databases and tables.
    pub(crate) fn preparations(&self, job: &Job) -> Vec<String> {
        static LEADING: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^((?:sudo\s+(?:-\w\s+)*)?(?:-u\s+postgres\s+)?)((?:[A-Za-z_]\w*=\S*\s+)*)(\S+)(\s.*)?$")
                .expect("a literal pattern")
        });
        static QUOTED: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r#"'[^']*'|"[^"]*""#).expect("a literal pattern"));
        let mut lines = Vec::new();
        for command in &job.commands {
            let text = job.expand(command).into_iter().next();
            let text = text.map_or_else(|| command.text.clone(), |command| command.text);
            // What it reads from a file of the repository.
            let (text, input) = match text.split_once('<') {
                Some((head, path)) if is_path(path.trim()) => (head, Some(path.trim())),
                _ => (text.as_str(), None),
            };
            let Some(found) = LEADING.captures(text.trim()) else {
                continue;
            };
            let rest = found.get(4).map_or("", |rest| rest.as_str());
            // What SQL ends with stands within quotes.
            let bare = QUOTED.replace_all(rest, "");
            if !self.clients.contains(&&found[3])
                || !is_plain(text)
                || bare.contains(['|', '&', ';', '"', '\''])
                || rest.contains("--version")
            {
                continue;
            }
            let user = if found[1].contains("postgres") {
                "PGUSER=postgres "
            } else {
                ""
            };
            let input = input.map(|path| format!(" < {path}")).unwrap_or_default();
            let line = format!("{user}{}{}{rest}{input}", &found[2], &found[3]);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }
}

/// Whether a word is a path below the folder in which a command runs.
fn is_path(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    !word.is_empty() && !word.starts_with(['/', '-']) && word.chars().all(plain)
}
