//! Tests of `serve`: the first start, later starts, and graceful shutdown.

use std::os::unix::fs::PermissionsExt;

use crate::harness::TestHome;

#[test]
fn the_first_start_shows_an_admin_key_that_works_and_later_ones_do_not() {
    let home = TestHome::new();
    let running = home.serve();
    let key = running.first_key().expect("the first start shows a key");
    let curl = running.greeting.iter().find(|line| line.starts_with("try it: curl")).unwrap();
    assert!(curl.contains(&key) && curl.contains(&running.api), "{curl}");
    assert_eq!(running.get("/api/v1/models", &key).0, 200);
    assert_eq!(running.get("/api/v1/api_keys", &key).0, 200);
    assert!(running.stop().success());

    let running = home.serve();
    assert_eq!(running.first_key(), None);
    assert_eq!(running.greeting.len(), 1, "{:?}", running.greeting);
    assert_eq!(running.get("/api/v1/api_keys", &key).0, 200);
    assert_eq!(home.json(&["accounts", "show", "default", "--json"])["balances"]["USD"], "10");
}

#[test]
fn a_machine_without_root_certificates_serves() {
    let home = TestHome::with_config(
        "[[provider]]\nid = \"plain\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n",
    );
    let home = home.variable("SSL_CERT_FILE", "/nowhere").variable("SSL_CERT_DIR", "/nowhere");
    assert!(home.serve().stop().success());
}

#[test]
fn a_database_in_use_names_the_data_directory_of_its_service() {
    let home = TestHome::new();
    let _running = home.serve();
    let database = home.data_dir().join("tollgate.db");
    let other =
        TestHome::with_config(&format!("[store]\nurl = \"sqlite:{}\"\n", database.display()));
    let holder = home.data_dir().canonicalize().unwrap().display().to_string();
    let said = format!("--data-dir {holder}");
    other.fails(&["keys", "list"], 3, &["in use by the service whose data directory is", &said]);
}

#[test]
fn a_chosen_admin_key_works_and_is_not_shown() {
    let secret = "the-operators-own-secret";
    let home = TestHome::new().variable("TOLLGATE_ADMIN_KEY", secret);
    let running = home.serve();
    assert_eq!(running.get("/api/v1/api_keys", secret).0, 200);
    assert!(!running.greeting.join("\n").contains(secret));
    assert_eq!(running.get("/api/v1/api_keys", "another").0, 401);
}

#[test]
fn a_chosen_admin_key_that_is_weak_or_cannot_be_sent_is_refused() {
    for secret in ["", "short", "sixteen letters and more", &"x".repeat(513)] {
        let home = TestHome::new().variable("TOLLGATE_ADMIN_KEY", secret);
        let serve = ["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
        home.fails(&serve, 1, &["TOLLGATE_ADMIN_KEY must be 16 to 512"]);
    }
}

#[test]
fn health_readiness_and_metrics_answer_on_their_own_listener() {
    let home = TestHome::new();
    let running = home.serve();
    assert_eq!(running.get_admin("/healthz").0, 200);
    assert_eq!(running.get_admin("/readyz").0, 200);
    running.get("/api/v1/models", "x");
    let (status, metrics) = running.get_admin("/metrics");
    assert_eq!(status, 200);
    assert!(metrics.contains("http_requests_total"), "{metrics}");
    assert_eq!(running.get("/metrics", "x").0, 404);
}

#[test]
fn only_the_user_can_reach_the_socket_and_it_goes_with_the_service() {
    let home = TestHome::new();
    let running = home.serve();
    let socket = home.data_dir().join("tollgate.sock");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(&home.data_dir()), 0o700);
    assert!(running.stop().success());
    assert!(!socket.exists());
}

#[test]
fn a_second_service_on_the_same_data_is_refused() {
    let home = TestHome::new();
    let _running = home.serve();
    let again = ["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    home.fails(&again, 1, &["in use", "--data-dir"]);
}

#[test]
fn a_port_in_use_is_named_before_anything_else_happens() {
    let home = TestHome::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    home.fails(&["serve", "--listen", &address], 1, &["cannot listen on", &address, "--listen"]);
    assert!(!home.data_dir().exists());
}

#[test]
fn a_socket_left_by_a_crash_is_no_running_service() {
    let home = TestHome::new();
    let running = home.serve();
    running.signal("KILL");
    drop(running);
    assert!(home.data_dir().join("tollgate.sock").exists());
    home.ok(&["accounts", "show", "default"]);
    let running = home.serve();
    home.ok(&["accounts", "show", "default"]);
    assert!(running.stop().success());
}

#[test]
fn the_log_is_json_where_no_person_reads_it() {
    let home = TestHome::new();
    let running = home.serve();
    running.get("/api/v1/models", "x");
    let line = running.wait_for_log("GET");
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["level"], "INFO");
}
