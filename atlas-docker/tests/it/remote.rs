//! Docker through TLS and through ssh: the contracts of sandboxes and sessions again, by a process of their own whose
//! `DOCKER_HOST` says where it is. The engine behind is this machine's.
//!
//! What is in front of it is started by the test: `stunnel` with certificates made by `openssl`, and `sshd` with a key made
//! by `ssh-keygen`. Where one of them is not installed the test says that it was skipped.

use crate::engines::wanted;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The tests that are run at an address.
const CONTRACTS: [&str; 2] = [
    "docker::keeps_the_contract",
    "sessions::containers_keep_the_contract",
];
const SOCKET: &str = "/var/run/docker.sock";

/// A program that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether the test can be made here; says what is missing.
fn able(programs: &[&str]) -> bool {
    if !wanted() {
        return false;
    }
    if !Path::new(SOCKET).exists() {
        println!("skipped: this machine's engine is not at {SOCKET}");
        return false;
    }
    programs.iter().all(|program| {
        let words = format!("PATH=$PATH:/usr/sbin; command -v {program}");
        let found = Command::new("sh").args(["-c", &words]).output().unwrap();
        if !found.status.success() {
            println!("skipped: `{program}` is not installed");
        }
        found.status.success()
    })
}

/// Runs a script in a folder; it has to succeed.
fn script(folder: &Path, text: &str) {
    let done = Command::new("bash")
        .args(["-euc", text])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{text}: {done:?}");
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a program and waits until its port is open.
fn serve(command: &mut Command, port: u16) -> Served {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut served = Served(child);
    for _ in 0..200 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return served;
        }
        let ended = served.0.try_wait().unwrap();
        assert!(ended.is_none(), "{command:?} ended: {ended:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{command:?} does not listen at {port}");
}

/// The contracts, in a process with these variables.
fn contracts_hold(variables: &[(&str, &str)]) {
    for test in CONTRACTS {
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        let why = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{test}: {said}{why}");
        assert!(
            said.contains("engine ") && said.contains("1 passed"),
            "{said}"
        );
    }
}

const CERTIFICATES: &str = r#"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority \
    -addext basicConstraints=critical,CA:true -addext keyUsage=keyCertSign -keyout ca-key.pem -out ca.pem
sign() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -keyout "$2" -out request.pem
    printf '%s\n' "basicConstraints=CA:false" "$4" > extensions
    openssl x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile extensions -out "$3"
}
sign server server-key.pem server.pem "subjectAltName=IP:127.0.0.1"
sign client key.pem cert.pem "extendedKeyUsage=clientAuth"
"#;

#[test]
fn contracts_hold_through_tls() {
    if !able(&["stunnel", "openssl"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), CERTIFICATES);
    let port = free_port();
    let place = folder.path().display();
    let settings = format!(
        "foreground = yes\npid =\ncert = {place}/server.pem\nkey = {place}/server-key.pem\nCAfile = {place}/ca.pem\n\
         verifyChain = yes\n[engine]\naccept = 127.0.0.1:{port}\nconnect = {SOCKET}\n"
    );
    let file = folder.path().join("stunnel.conf");
    std::fs::write(&file, settings).unwrap();
    let _served = serve(Command::new("stunnel").arg(&file), port);
    let host = format!("tcp://127.0.0.1:{port}");
    let certificates = folder.path().to_str().unwrap();
    contracts_hold(&[
        ("DOCKER_HOST", &host),
        ("DOCKER_TLS_VERIFY", "1"),
        ("DOCKER_CERT_PATH", certificates),
    ]);

    // A client whose certificate another authority signed is turned away.
    let strangers = tempfile::tempdir().unwrap();
    script(strangers.path(), CERTIFICATES);
    std::fs::copy(
        folder.path().join("ca.pem"),
        strangers.path().join("ca.pem"),
    )
    .unwrap();
    let refused = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CONTRACTS[0], "--nocapture"])
        .env("DOCKER_HOST", &host)
        .env("DOCKER_TLS_VERIFY", "1")
        .env("DOCKER_CERT_PATH", strangers.path())
        .output()
        .unwrap();
    let why = String::from_utf8_lossy(&refused.stderr);
    let place = format!("connect to the container engine at {host}");
    assert!(!refused.status.success() && why.contains(&place), "{why}");
}

#[test]
fn contracts_hold_through_ssh() {
    if !able(&["sshd", "ssh", "ssh-keygen"]) {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        println!("skipped: sshd lets only its own user in where it does not run as root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    let port = free_port();
    // The programs read no configuration of this machine; the client finds its own by the first `ssh` on the path.
    script(
        folder.path(),
        &format!(
            "mkdir -p /run/sshd bin
            ssh-keygen -q -t ed25519 -N '' -f host
            ssh-keygen -q -t ed25519 -N '' -f key
            cp key.pub authorized
            printf '%s\\n' 'HostKey {place}/host' 'AuthorizedKeysFile {place}/authorized' 'StrictModes no' \
                'PermitRootLogin prohibit-password' 'PasswordAuthentication no' 'UsePAM no' 'PidFile none' \
                'MaxStartups 100' 'MaxSessions 100' 'ListenAddress 127.0.0.1:{port}' > server
            printf '%s\\n' 'Host engine' 'HostName 127.0.0.1' 'Port {port}' 'IdentityFile {place}/key' 'IdentitiesOnly yes' 'UserKnownHostsFile {place}/known' \
                'StrictHostKeyChecking accept-new' > client
            printf '%s\\n' '#!/bin/sh' \"exec $(command -v ssh) -F {place}/client \\\"\\$@\\\"\" > bin/ssh
            chmod +x bin/ssh"
        ),
    );
    let mut command = Command::new("/usr/sbin/sshd");
    command
        .args(["-D", "-e", "-f"])
        .arg(folder.path().join("server"));
    let _served = serve(&mut command, port);
    let path = std::env::var("PATH").unwrap();
    contracts_hold(&[
        ("DOCKER_HOST", "ssh://root@engine"),
        ("PATH", &format!("{place}/bin:{path}")),
    ]);
}
