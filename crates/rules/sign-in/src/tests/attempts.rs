//! The cookie of an attempt, return paths, and the browser's return.

use proptest::prelude::*;
use url::Url;

use super::world::{attempt, now, person, provider_id, signer};
use crate::encoding::{decode_base64url, encode_base64url};
use crate::{
    AttemptPurpose, AttemptSigner, CallbackRefusal, CallbackRules, ClientAuthentication,
    ClientCredentials, CodeVerifier, ProviderUrl, ReturnPath, SignInAttempt, TokenAnswer,
    TokenAnswerFault, TokenRequest, read_callback,
};

#[test]
fn attempts_are_read_as_they_were_sealed() {
    for purpose in [AttemptPurpose::SignIn, AttemptPurpose::AddIdentity(person(9))] {
        for path in ["/", "/#/keys?page=2", "/a/b?c=/d"] {
            let return_path = ReturnPath::parse(path).unwrap();
            let attempt = SignInAttempt { purpose, return_path, ..attempt() };
            let sealed = signer().seal_attempt(&attempt);
            assert_eq!(signer().open_attempt(&sealed, now()), Some(attempt));
        }
    }
}

#[test]
fn a_cookie_that_was_changed_anywhere_opens_nothing() {
    let sealed = signer().seal_attempt(&attempt());
    let bytes = decode_base64url(&sealed).unwrap();
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= 1;
        let opened = signer().open_attempt(&encode_base64url(&changed), now());
        assert_eq!(opened, None, "byte {index}");
        let cut = encode_base64url(&bytes[..index]);
        assert_eq!(signer().open_attempt(&cut, now()), None, "cut at {index}");
    }
    assert_eq!(AttemptSigner::new(&[1; 32]).open_attempt(&sealed, now()), None);
    assert_eq!(signer().open_attempt(&"A".repeat(5000), now()), None);
}

#[test]
fn open_redirects_are_impossible() {
    for path in ["/", "/#/keys", "/console/top-up?amount=10#x", "/a%2f%2fb", "/?next=//x"] {
        assert!(ReturnPath::parse(path).is_some(), "{path}");
    }
    for path in [
        "",
        "keys",
        "//evil.example.com",
        "/\\evil.example.com",
        "\\\\evil.example.com",
        "https://evil.example.com",
        "https:evil.example.com",
        "javascript:alert(1)",
        "/\t/evil.example.com",
        "/\n/evil.example.com",
        " //evil.example.com",
        "/.//evil.example.com",
        "/a/..//evil.example.com",
        "/%2e//evil.example.com",
        "/a b",
        "/é",
        "@evil.example.com",
        "///evil.example.com",
        "/keys//evil.example.com",
    ] {
        assert_eq!(ReturnPath::parse(path), None, "{path:?}");
    }
    assert_eq!(ReturnPath::parse(&format!("/{}", "a".repeat(1024))), None);
}

proptest! {
    #[test]
    fn no_accepted_path_leads_to_another_origin(
        path in prop_oneof![
            "[/\\\\.@:%#?a-z0-9]{0,24}",
            "(?s).{0,16}",
            "/[/.]{0,4}(%2[ef]|[a-z]){0,4}[/.]{0,3}[a-z]{0,3}",
        ],
    ) {
        if let Some(path) = ReturnPath::parse(&path) {
            let base = Url::parse("https://api.example.com/console/sign-in/corp/callback").unwrap();
            let reached = base.join(path.as_str()).unwrap();
            prop_assert_eq!(reached.origin(), base.origin());
            // Also if a proxy writes it anew, and a browser reads that.
            let rest = &reached[url::Position::BeforePath..];
            prop_assert_eq!(base.join(rest).unwrap(), reached.clone());
        }
    }

    #[test]
    fn any_query_is_survived(query in "(?s).{0,200}", tail in "[a-z=&%0-9]{0,100}") {
        let id = provider_id("corp");
        let rules = CallbackRules { provider: &id, issuer: None, is_issuer_required: false };
        let (signer, attempt) = (signer(), attempt());
        prop_assert!(read_callback(&query, rules, &signer, &attempt).is_err());
        let sent = format!("state={}&{tail}", signer.state(&attempt));
        let _ = read_callback(&sent, rules, &signer, &attempt);
        let _ = signer.open_attempt(&query, now());
        let _ = signer.open_attempt(&encode_base64url(query.as_bytes()), now());
    }
}

fn read(query: &str) -> Result<String, CallbackRefusal> {
    let id = provider_id("corp");
    let rules = CallbackRules { provider: &id, issuer: None, is_issuer_required: false };
    let state = signer().state(&attempt());
    let query = format!("{query}&state={state}");
    read_callback(&query, rules, &signer(), &attempt()).map(|code| code.0)
}

#[test]
fn returns_with_errors_and_odd_codes_are_refused() {
    assert_eq!(read("code=4%2F0Ab-c"), Ok("4/0Ab-c".to_owned()));
    assert_eq!(read("error=access_denied&error_description=x"), Err(CallbackRefusal::Declined));
    let refused = read("error=%3Cscript%3Eserver_error&code=abc");
    assert_eq!(refused, Err(CallbackRefusal::Provider("scriptserver_error".to_owned())));
    for query in ["", "code=", "code=a%20b", "code=a%0Ab", "code=a&code=b", "state=x&code=a"] {
        assert_eq!(read(query), Err(CallbackRefusal::Malformed), "{query}");
    }
    assert_eq!(read(&format!("code={}", "a".repeat(5000))), Err(CallbackRefusal::Malformed));
    assert_eq!(read(&format!("x={}", "a".repeat(9000))), Err(CallbackRefusal::Malformed));
}

#[test]
fn secrets_are_sent_as_the_provider_wants_them_and_never_shown() {
    let endpoint = ProviderUrl::parse("https://sso.example.com/token").unwrap();
    let id = provider_id("corp");
    let rules = CallbackRules { provider: &id, issuer: None, is_issuer_required: false };
    let query = format!("code=abc&state={}", signer().state(&attempt()));
    let code = read_callback(&query, rules, &signer(), &attempt()).unwrap();
    let verifier = CodeVerifier::of_attempt(&signer(), &attempt());
    let build = |authentication, secret: Option<&str>| {
        let client = ClientCredentials { id: "us".to_owned(), secret: secret.map(str::to_owned) };
        assert!(!format!("{client:?}").contains("s&cret"));
        let callback = "https://api.example.com/c";
        TokenRequest::new(&endpoint, authentication, &client, callback, &code, &verifier)
    };
    let posted = build(ClientAuthentication::Post, Some("s&cret"));
    assert!(posted.form.ends_with("&client_id=us&client_secret=s%26cret"), "{}", posted.form);
    assert_eq!(posted.authorization, None);
    assert!(!format!("{posted:?} {code:?}").contains("s%26cret"));
    let public = build(ClientAuthentication::Basic, None);
    assert!(public.form.ends_with("&client_id=us") && public.authorization.is_none());
    let headed = build(ClientAuthentication::Basic, Some("s&cret"));
    assert!(!headed.form.contains("client_id"));
    // base64 of `us:s%26cret`.
    assert_eq!(headed.authorization.as_deref(), Some("Basic dXM6cyUyNmNyZXQ="));
}

#[test]
fn answers_of_token_endpoints_are_read() {
    let parse = |text: &str| TokenAnswer::parse(text.as_bytes());
    let answer = parse(r#"{"access_token":"gho_x","token_type":"bearer","scope":"a"}"#).unwrap();
    assert_eq!((answer.access_token.as_deref(), answer.id_token), (Some("gho_x"), None));
    // GitHub answers 200 with these.
    let used = parse(r#"{"error":"bad_verification_code","access_token":"x"}"#);
    assert_eq!(used, Err(TokenAnswerFault::CodeRefused));
    let client = parse(r#"{"error":"incorrect_client_credentials"}"#);
    assert_eq!(client, Err(TokenAnswerFault::ClientRefused));
    let other = parse(r#"{"error":"temporarily_unavailable\n"}"#);
    assert_eq!(other, Err(TokenAnswerFault::Refused("temporarily_unavailable".to_owned())));
    for text in [
        "",
        "[]",
        "{}",
        r#"{"access_token":""}"#,
        r#"{"access_token":"a b"}"#,
        r#"{"access_token":"a\r\nX: y"}"#,
        r#"{"access_token":"x","token_type":"DPoP"}"#,
    ] {
        assert_eq!(parse(text), Err(TokenAnswerFault::Malformed), "{text}");
    }
}
