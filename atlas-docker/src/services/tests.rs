//! Jobs of made-up repositories, and what stands in their plans.

use crate::analysis::testing;
use atlas_core::EnvironmentPlan;

/// A module of Go that reads some variables, with these files beside it.
fn planned(files: &[(&str, &str)]) -> EnvironmentPlan {
    let own = [
        ("go.mod", "module example.org/x\n\ngo 1.22\n"),
        ("x_test.go", "package x\n"),
        (
            "x.go",
            "package x\n\nvar names = []string{\"DB_DSN\", \"DB_PASSWORD\", \"MAIL_HOST\", \"DB_PORT\"}\n",
        ),
    ];
    testing::planned(own.iter().chain(files).copied(), &[])
}

fn starts(plan: &EnvironmentPlan) -> Vec<String> {
    let starts = plan.services.iter().map(|service| {
        service
            .start
            .replace("bash \"$ATLAS_ENV/toolbox/service\" ", "")
    });
    starts.collect()
}

#[test]
fn a_server_that_ci_starts_in_the_background_is_started_where_its_port_is_known() {
    let plan = planned(&[(
        ".github/workflows/ci.yml",
        "
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: php -S 127.0.0.1:10002 tests/server.php &
      - run: node server.js &
      - run: make 2>&1 | tee log &
      - run: go test ./...
      - run: ./late --port 9000 &
",
    )]);
    assert_eq!(
        starts(&plan),
        ["command 10002 'command=php -S 127.0.0.1:10002 tests/server.php'"]
    );
    assert!(plan.apt_packages.is_empty(), "{:?}", plan.pre_install);
    assert!(plan.tools.iter().any(|tool| tool == "service"));
}

#[test]
fn github_services_start_on_the_ports_that_the_job_sees() {
    let plan = planned(&[(
        ".github/workflows/ci.yml",
        r#"
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    env:
      DB_DSN: postgres://me:pass@localhost:5433/things?sslmode=disable
      REDIS_URL: redis://127.0.0.1:${{ job.services.redis.ports[6379] }}/0
      DB_PASSWORD: ${{ secrets.DB }}
    services:
      db:
        image: postgres:${{ matrix.pg }}
        env:
          POSTGRES_USER: me
          POSTGRES_PASSWORD: pass
          POSTGRES_DB: things
        ports: ["5433:5432"]
      redis:
        image: docker.io/library/redis:7-alpine
        ports:
          - 6379
    strategy:
      matrix:
        pg: [12, 16]
    steps:
      - run: psql -c 'create extension hstore; create role it;' -d things
      - run: psql -c 'select 1'; curl -f example.org
      - run: go test ./...
"#,
    )]);
    assert_eq!(
        starts(&plan),
        [
            "postgres 5433 user=me password=pass database=things\npsql -c 'create extension hstore; create role it;' -d things",
            "redis 6379",
        ]
    );
    assert_eq!(
        plan.env["DB_DSN"],
        "postgres://me:pass@localhost:5433/things?sslmode=disable"
    );
    assert_eq!(plan.env["REDIS_URL"], "redis://127.0.0.1:6379/0");
    assert!(!plan.env.contains_key("DB_PASSWORD"));
    let packages: Vec<&str> = plan.apt_packages.iter().map(String::as_str).collect();
    assert_eq!(packages, ["postgresql", "redis-server"]);
    assert!(
        plan.pre_install
            .iter()
            .any(|command| command == "install -d -m 1777 /run/postgresql")
    );
    assert!(plan.drift.iter().any(|line| line.contains("postgres:12")));
}

#[test]
fn a_job_in_a_container_reaches_them_by_name() {
    let plan = planned(&[(
        ".gitlab-ci.yml",
        r"
test:
  image: golang:1.22
  services:
    - name: registry.example/mirror/mysql:8
      alias: db
  variables:
    MYSQL_DATABASE: things
    MYSQL_ROOT_PASSWORD: secret
    DB_DSN: root:secret@tcp(db:3306)/things
    DB_PASSWORD: db
    MAIL_HOST: db
  script:
    - go test ./...
",
    )]);
    assert_eq!(
        starts(&plan),
        ["mariadb 3306 database=things root_password=secret"]
    );
    assert_eq!(plan.env["DB_DSN"], "root:secret@tcp(localhost:3306)/things");
    assert_eq!(plan.env["DB_PASSWORD"], "db");
    assert_eq!(plan.env["MAIL_HOST"], "localhost");
}

#[test]
fn actions_commands_and_compose_files_start_some() {
    let plan = planned(&[
        (
            ".github/workflows/ci.yml",
            r"
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: supercharge/redis-github-action@v1
        with:
          redis-version: 7
          redis-port: 6380
      - run: sudo systemctl start mysql
      - run: docker run -d --name mq -p 5673:5672 rabbitmq:3-management
      - run: docker compose -f ./test/compose.yml up -d cache
      - run: go test ./...
",
        ),
        (
            "test/compose.yml",
            "services:\n  cache:\n    image: memcached:1.6\n    ports: [\"11212:11211\"]\n  web:\n    image: nginx\n  db:\n    image: postgres\n",
        ),
    ]);
    assert_eq!(
        starts(&plan),
        [
            "redis 6380",
            "mariadb 3306 root_password=root",
            "rabbitmq 5673",
            "memcached 11212"
        ]
    );
}

#[test]
fn a_container_of_redis_that_is_started_as_a_sentinel_is_one() {
    let plan = planned(&[
        (
            ".github/workflows/ci.yml",
            r"
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: docker compose -f ci/compose.yml up -d
      - run: go test ./...
",
        ),
        (
            "ci/compose.yml",
            "services:\n  cache:\n    image: redis:7\n    ports: [\"6380:6379\"]\n  watch:\n    image: redis:7\n    \
             entrypoint: redis-sentinel /watch.conf --port 26379\n    volumes: [\"./watch.conf:/watch.conf\"]\n",
        ),
        (
            "ci/watch.conf",
            "# a comment\nsentinel monitor things 127.0.0.1 6380 1\n",
        ),
    ]);
    assert_eq!(
        starts(&plan),
        ["redis 6380", "sentinel 26379 master=things primary=6380"]
    );
}

#[test]
fn who_trusts_everybody_has_no_password_and_a_matrix_names_images() {
    let plan = planned(&[(
        ".github/workflows/ci.yml",
        r#"
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        database:
          - { image: "example/dragonfly", version: "latest" }
          - { image: "redis", version: "7.0" }
    services:
      pg:
        image: ${{ matrix.pg || 'postgis/postgis:16-3.4' }}
      db:
        image: postgis/postgis:16-3.4
        env:
          POSTGRES_PASSWORD: pass
          POSTGRES_HOST_AUTH_METHOD: trust
      cache:
        image: ${{ matrix.database.image }}:${{ matrix.database.version }}
    steps:
      - run: go test ./...
"#,
    )]);
    assert_eq!(starts(&plan), ["postgres 5432", "redis 6379"]);
    assert!(plan.apt_packages.contains(&"postgresql-postgis".to_owned()));
}

#[test]
fn what_the_distribution_lacks_is_said_and_its_variables_stay_away() {
    let plan = planned(&[(
        ".github/workflows/ci.yml",
        r"
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    services:
      mongo:
        image: mongo:6
      exporter:
        image: oliver006/redis_exporter
    env:
      MAIL_HOST: somewhere
    steps:
      - run: go test ./...
",
    )]);
    assert_eq!(plan.services, []);
    assert!(plan.drift.iter().any(|line| line.contains("mongo:6")));
    assert!(!plan.env.contains_key("MAIL_HOST"));
    assert!(
        !plan
            .build
            .iter()
            .any(|command| command.contains("atlas-services"))
    );
}

/// `a.yml` goes before `test.yml`, and its server is for the tests of a project that it brings.
#[test]
fn what_a_job_has_beside_the_tests_of_another_project_goes_last() {
    let plan = planned(&[
        (
            ".github/workflows/a.yml",
            r"
on: push
jobs:
  web:
    runs-on: ubuntu-latest
    steps:
      - run: sudo systemctl start mysql
      - run: |
          curl -O https://example.org/web.tar.gz
          cd web-${{ matrix.web }}/pkg
          go test ./...
",
        ),
        (
            ".github/workflows/test.yml",
            r"
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    services:
      db:
        image: mysql:8
        ports: ['3306:3306']
        env:
          MYSQL_DATABASE: own
    steps:
      - run: mysql -h127.0.0.1 -uroot --comments < ci/init.sql
      - run: mysql -uroot < $HOME/own.sql
      - run: go test ./...
",
        ),
    ]);
    assert_eq!(
        starts(&plan),
        ["mariadb 3306 database=own\nmysql -h127.0.0.1 -uroot --comments < ci/init.sql"]
    );
}
