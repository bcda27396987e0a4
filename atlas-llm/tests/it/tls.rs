//! HTTPS, with a certificate of our own making.

use crate::support::{answer, request, served};
use atlas_core::{LanguageModel, RunContext};
use atlas_llm::{CallFailure, FailureCause, ModelConfig, open_model};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

#[tokio::test]
async fn https_works_and_an_unknown_certificate_is_refused() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let pem = folder.path().join("root.pem");
    std::fs::write(&pem, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            // A client that does not trust it hangs up here.
            let Ok(mut socket) = acceptor.accept(socket).await else {
                continue;
            };
            let mut buffer = [0; 8192];
            let _read = socket.read(&mut buffer).await.unwrap();
            let body = answer("fine", 1, 1).to_string();
            let response = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            socket.write_all(response.as_bytes()).await.unwrap();
            socket.shutdown().await.unwrap();
        }
    });
    let cx = RunContext::new("test");
    let mut config = served(&format!("https://localhost:{port}/v1"));
    config.retry.retries = 0;
    let why = open_model(&config)
        .unwrap()
        .complete(&cx, &request("hello"))
        .await
        .unwrap_err();
    assert_eq!(CallFailure::of(&why).unwrap().cause, FailureCause::Connect);
    assert!(why.chain().contains("certificate"), "{}", why.chain());

    let config = ModelConfig {
        ca_file: Some(pem),
        ..config
    };
    let done = open_model(&config)
        .unwrap()
        .complete(&cx, &request("hello"))
        .await;
    assert_eq!(done.unwrap().text, "fine");
}
