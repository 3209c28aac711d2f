//! Tests of `operator`: links and keys with operator rights, separate from the keys of accounts.

use serde_json::{Value, json};

use crate::harness::{RunningService, TestHome};

fn operate(running: &RunningService, key: &str, operation: &Value) -> (u16, Value) {
    let (status, body) = running.post("/console/operator", key, &operation.to_string());
    (status, serde_json::from_str(&body).unwrap())
}

#[test]
fn the_first_start_prints_an_admin_key_without_the_operators_rights_and_a_link_with_them() {
    let home = TestHome::new();
    let running = home.serve();
    let admin = running.first_key().unwrap();
    let credit = json!({"operation": "credit_account", "name": "default", "amount": "1000000",
        "currency": "usd", "entry": "00000000-0000-7000-8000-000000000009"});
    let (status, told) = operate(&running, &admin, &credit);
    assert_eq!(status, 403, "{told}");
    assert_eq!(home.json(&["accounts", "show", "default", "--json"])["balances"]["USD"], "10");

    let said = "console, this link signs in once as the operator: ";
    let link = running.greeting.iter().find_map(|line| line.strip_prefix(said)).unwrap();
    let (site, token) = link.split_once("/#/sign-in/").unwrap();
    assert_eq!(site, format!("http://{}", running.api));
    let entry = json!({ "link": token }).to_string();
    let (status, body) = running.post("/console/session", "", &entry);
    assert_eq!(status, 200, "{body}");
    let told: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&told["isOperator"], &told["keyType"]), (&json!(true), &json!("OPERATOR")));
    assert_eq!(running.post("/console/session", "", &entry).0, 401, "a link works once");
}

#[test]
fn an_operator_key_operates_and_is_in_the_audit_trail() {
    let home = TestHome::new();
    let running = home.serve();
    let made = home.json(&["operator", "keys", "create", "--description", "ci", "--json"]);
    let secret = made["apiKey"].as_str().unwrap();
    assert!(secret.starts_with("SERVICE_OPERATOR_KEY_"), "{secret}");
    let credit = json!({"operation": "credit_account", "name": "default", "amount": "5",
        "currency": "usd", "entry": "00000000-0000-7000-8000-000000000009"});
    let (status, told) = operate(&running, secret, &credit);
    assert_eq!((status, &told["account"]["balances"]["USD"]), (200, &json!("15")), "{told}");
    let trail = home.ok(&["ledger", "audit"]);
    assert!(trail.contains("create operator key"), "{trail}");
    assert!(trail.contains(&format!("operator key …{}", &secret[secret.len() - 6..])), "{trail}");

    // A stolen key must not create others.
    let more = json!({"operation": "create_operator_key", "description": "", "expires": null});
    assert_eq!(operate(&running, secret, &more).0, 400);
    assert_eq!(operate(&running, secret, &json!({"operation": "create_operator_link"})).0, 400);

    let listed = home.json(&["operator", "keys", "list", "--json"]);
    let ids: Vec<&str> =
        listed.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    let id = made["id"].as_str().unwrap();
    assert!(ids.contains(&id), "{listed}");
    let others = home.json(&["keys", "list", "--json"]);
    assert!(others.as_array().unwrap().iter().all(|it| it["apiKeyType"] != "OPERATOR"), "{others}");
    home.ok(&["operator", "keys", "revoke", id]);
    assert_eq!(operate(&running, secret, &credit).0, 401);
}

#[test]
fn a_link_is_made_while_stopped_and_works_once_the_service_runs() {
    let home = TestHome::new();
    home.serve().stop();
    let made = home.json(&["operator", "link", "--json"]);
    let url = made["url"].as_str().unwrap();
    let token = url.split_once("/#/sign-in/").unwrap().1.to_owned();
    let running = home.serve();
    let entry = json!({ "link": token }).to_string();
    assert_eq!(running.post("/console/session", "", &entry).0, 200);
    let another = home.ok(&["operator", "link"]);
    assert!(another.contains(&format!("http://{}/#/sign-in/", running.api)), "{another}");
}
