//! Encrypted connections: to any server, or to the one that the certificate names.

use std::path::Path;
use std::process::Command;

use store_postgres::{PostgresOptions, PostgresStore};

use crate::server::{client, database, server, store};

/// Creates an authority, and a certificate of it for `localhost`, with `openssl`, which Postgres'
/// package depends on.
fn certificates(folder: &Path) {
    let openssl = |arguments: &[&str]| {
        let output = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let new = ["req", "-newkey", "rsa:2048", "-nodes"];
    let authority = ["-x509", "-days", "2", "-subj", "/CN=ours", "-keyout", "ca.key", "-out", "ca"];
    openssl(&[&new[..], &authority].concat());
    let leaf = ["-subj", "/CN=localhost", "-keyout", "key", "-out", "request"];
    openssl(&[&new[..], &leaf].concat());
    let sign = ["x509", "-req", "-days", "2", "-in", "request", "-CA", "ca", "-CAkey", "ca.key"];
    openssl(&[&sign[..], &["-CAcreateserial", "-extfile", "names", "-out", "leaf"]].concat());
}

async fn refusal(url: &str) -> String {
    match PostgresStore::connect(&PostgresOptions::new(url, "one")).await {
        Ok(_) => panic!("the connection should be refused"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_server_is_believed_by_its_certificate() {
    let url = database().await;
    let folder = tempfile::tempdir().unwrap();
    let plain = refusal(&format!("{url}?sslmode=require")).await;
    assert!(plain.contains("does not support TLS"), "{plain}");
    certificates(folder.path());
    let raw = client(&url).await;
    for (setting, name) in [("ssl_cert_file", "leaf"), ("ssl_key_file", "key")] {
        let file = server().write(name, &std::fs::read(folder.path().join(name)).unwrap());
        let set = format!("ALTER SYSTEM SET {setting} = '{}'", file.display());
        raw.batch_execute(&set).await.unwrap();
    }
    raw.batch_execute("ALTER SYSTEM SET ssl = on").await.unwrap();
    raw.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let authority = folder.path().join("ca");
    let named = url.replace("127.0.0.1", "localhost");
    let verified = format!("?sslmode=verify-full&sslrootcert={}", authority.display());
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                     WHERE ssl AND application_name LIKE 'tollgate one %'";
    for good in [format!("{url}?sslmode=require"), format!("{named}{verified}")] {
        let store = store(&good, "one").await;
        let sessions: i64 = raw.query_one(encrypted, &[]).await.unwrap().get(0);
        assert!(3 <= sessions, "{sessions} sessions over {good}");
        store.close().await;
    }
    let other_name = refusal(&format!("{url}{verified}")).await;
    assert!(other_name.contains("certificate"), "{other_name}");
    let other_authority = refusal(&format!("{named}?sslmode=verify-full")).await;
    assert!(other_authority.contains("certificate"), "{other_authority}");
}
