//! The text of a sign-in, parsed and formatted without losing a byte.

use expect_test::expect;
use proptest::option;
use proptest::prelude::*;

use crate::sign_in::{AccountKind, SignInMessage, SignInStatement};

fn message() -> SignInMessage {
    SignInMessage {
        domain: "api.example.com".to_owned(),
        account_kind: AccountKind::Ethereum,
        address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8".to_owned(),
        statement: SignInStatement::Text("Sign in to the service".to_owned()),
        uri: "https://api.example.com".to_owned(),
        version: "1".to_owned(),
        chain_id: Some("8453".to_owned()),
        nonce: Some("a1b2c3d4e5f67890".to_owned()),
        issued_at: "2026-01-15T10:30:00.000Z".to_owned(),
        expiration_time: Some("2026-01-15T10:35:00.000Z".to_owned()),
        not_before: Some("2026-01-15T10:29:00.000Z".to_owned()),
        request_id: Some("request 7".to_owned()),
        resources: Some(vec!["https://api.example.com/a".to_owned(), "ipfs://b".to_owned()]),
    }
}

#[track_caller]
fn check_round_trip(message: &SignInMessage) {
    assert_eq!(SignInMessage::parse(&message.to_string()).as_ref(), Some(message));
}

#[test]
fn the_text_is_the_one_of_eip_4361() {
    expect![[r#"
        api.example.com wants you to sign in with your Ethereum account:
        0x70997970C51812dc3A010C7d01b50e0d17dc79C8

        Sign in to the service

        URI: https://api.example.com
        Version: 1
        Chain ID: 8453
        Nonce: a1b2c3d4e5f67890
        Issued At: 2026-01-15T10:30:00.000Z
        Expiration Time: 2026-01-15T10:35:00.000Z
        Not Before: 2026-01-15T10:29:00.000Z
        Request ID: request 7
        Resources:
        - https://api.example.com/a
        - ipfs://b"#]]
    .assert_eq(&message().to_string());
    check_round_trip(&message());
}

#[test]
fn a_text_without_a_statement_has_a_blank_place_or_none() {
    let blank = SignInMessage { statement: SignInStatement::Blank, ..message() };
    assert!(blank.to_string().contains("C8\n\n\nURI: "));
    check_round_trip(&blank);
    let omitted = SignInMessage { statement: SignInStatement::Omitted, ..message() };
    assert!(omitted.to_string().contains("C8\n\nURI: "));
    check_round_trip(&omitted);
}

#[test]
fn a_statement_that_looks_like_a_field_stays_a_statement() {
    for statement in ["URI: https://evil.example", "Version: 1", "Nonce: 12345678", "", "- x"] {
        let statement = SignInStatement::Text(statement.to_owned());
        check_round_trip(&SignInMessage { statement, ..message() });
    }
}

#[test]
fn an_empty_list_of_resources_is_kept() {
    check_round_trip(&SignInMessage { resources: Some(Vec::new()), ..message() });
}

#[test]
fn what_is_not_quite_the_text_is_not_read() {
    let text = message().to_string();
    for broken in [
        text.replace(" wants you", " wants  you"),
        text.replace("Ethereum", "Bitcoin"),
        text.replace("account:\n", "account:\n\n"),
        text.replace("\n\nURI", "\nURI"),
        text.replace("URI: https://api.example.com\n", ""),
        text.replace("Version: 1\n", ""),
        text.replace("Issued At: ", "Issued at: "),
        text.replace("Nonce: a1b2c3d4e5f67890\nIssued At", "Issued At"),
        text.replace("Resources:", "Resources"),
        text.replace('\n', "\r\n"),
        format!("{text}\n"),
        format!("{text}\nNonce: again0000"),
        String::new(),
    ] {
        let read = SignInMessage::parse(&broken);
        let is_without_nonce = read.as_ref().is_some_and(|message| message.nonce.is_none());
        assert!(read.is_none() || is_without_nonce, "{broken}");
    }
}

prop_compose! {
    fn any_message()(
        domain in "[a-z.:0-9]{1,20}",
        is_solana in any::<bool>(),
        address in "[0-9A-Za-z]{0,44}",
        statement in prop_oneof![
            Just(SignInStatement::Blank),
            Just(SignInStatement::Omitted),
            "[^\n]{0,40}".prop_map(SignInStatement::Text),
        ],
        fields in prop::array::uniform3("[^\n]{0,20}"),
        optional in prop::array::uniform5(option::of("[^\n]{0,20}")),
        resources in option::of(prop::collection::vec("[^\n]{0,20}", 0..4)),
    ) -> SignInMessage {
        let [uri, version, issued_at] = fields;
        let [chain_id, nonce, expiration_time, not_before, request_id] = optional;
        let account_kind = if is_solana { AccountKind::Solana } else { AccountKind::Ethereum };
        SignInMessage {
            domain, account_kind, address, statement, uri, version, chain_id, nonce, issued_at,
            expiration_time, not_before, request_id, resources,
        }
    }
}

proptest! {
    #[test]
    fn every_message_is_read_as_it_was_written(message in any_message()) {
        prop_assert_eq!(SignInMessage::parse(&message.to_string()), Some(message));
    }

    #[test]
    fn every_text_that_is_read_is_written_back_unchanged(
        message in any_message(),
        cut in any::<prop::sample::Index>(),
        insert in "[\n -z]{0,3}",
    ) {
        let mut text = message.to_string();
        let at = cut.index(text.len() + 1);
        if text.is_char_boundary(at) {
            text.insert_str(at, &insert);
        }
        if let Some(read) = SignInMessage::parse(&text) {
            prop_assert_eq!(read.to_string(), text);
        }
    }
}
