//! Mail addresses, links in mails and their codes, and the sign-up policy.

use std::time::Duration;

use moment::Timestamp;
use proptest::prelude::*;

use super::world::{address, now};
use crate::*;

fn secret() -> MailLinkSecret {
    MailLinkSecret::new(&[7; 32])
}

fn minted(purpose: MailPurpose) -> MintedLink {
    let draft = MailLinkDraft { id: [1; 16], token: [2; 32], browser: [3; 32] };
    secret().mint_link(purpose, address("ada@example.com"), &draft, now())
}

fn later(s: u64) -> Timestamp {
    now().plus(Duration::from_secs(s))
}

/// The code that another browser is shown.
fn code_of(link: &MintedLink) -> String {
    match secret().decide_link(&link.row, &link.token, None, now()) {
        LinkDecision::ShowCode(code) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn addresses_are_compared_in_lower_case_and_in_the_form_of_dns() {
    for (text, expected) in [
        ("Ada.Lovelace+x@Example.COM", "ada.lovelace+x@example.com"),
        (" a@b.example ", "a@b.example"),
        ("a@bücher.example", "a@xn--bcher-kva.example"),
        ("a@BÜCHER.example", "a@xn--bcher-kva.example"),
        ("a@bu\u{308}cher.example", "a@xn--bcher-kva.example"),
        ("a!#$%&'*+-/=?^_`{|}~@b.example", "a!#$%&'*+-/=?^_`{|}~@b.example"),
        ("a@例え.テスト", "a@xn--r8jz45g.xn--zckzah"),
    ] {
        let parsed = MailAddress::parse(text).unwrap();
        assert_eq!(parsed.as_str(), expected, "{text}");
        assert_eq!(MailAddress::parse(parsed.as_str()).as_ref(), Ok(&parsed));
    }
    let dots = [address("a.b@gmail.com"), address("ab@gmail.com"), address("ab+c@gmail.com")];
    assert_ne!(dots[0], dots[1]);
    assert_ne!(dots[1], dots[2]);
    assert_eq!(address("a@sub.b.example").domain().as_str(), "sub.b.example");
}

#[test]
fn texts_that_are_no_addresses_are_refused() {
    for text in [
        "",
        "@",
        "a",
        "a@",
        "@b.example",
        "a@b",
        "a@b.",
        "a@.b",
        "a@b..c",
        "a@[127.0.0.1]",
        "a@127.0.0.1",
        "a@0x7f.1",
        "a@b.example\nBcc: c@d.example",
        "a\r\n@b.example",
        "a b@c.example",
        "\"a b\"@c.example",
        ".a@b.example",
        "a.@b.example",
        "a..b@c.example",
        "a@b@c.example",
        "Ada <a@b.example>",
        "a@b.example,c@d.example",
        "a@b%2eexample",
        "a@-b.example",
        "a@b_c.example",
        "\u{212a}im@b.example",
        "é@b.example",
    ] {
        assert!(MailAddress::parse(text).is_err(), "{text:?}");
    }
    let long = format!("{}@b.example", "a".repeat(65));
    assert_eq!(MailAddress::parse(&long), Err(MailAddressFault::LocalPart));
    let long = format!("a@{}example", "b.".repeat(130));
    assert_eq!(MailAddress::parse(&long), Err(MailAddressFault::TooLong));
}

#[test]
fn a_link_completes_in_the_browser_that_asked() {
    let link = minted(MailPurpose::SignIn);
    let cookie = link.browser_cookie.as_deref();
    let decide = |at| secret().decide_link(&link.row, &link.token, cookie, at);
    assert_eq!(decide(now()), LinkDecision::Complete);
    assert_eq!(decide(later(15 * 60 - 1)), LinkDecision::Complete);
    assert_eq!(decide(later(15 * 60)), LinkDecision::Refused(LinkRefusal::Expired));
}

#[test]
fn a_link_that_a_scanner_opens_gives_no_session() {
    let link = minted(MailPurpose::SignIn);
    let other = crate::encoding::encode_base64url(&[4; 32]);
    for cookie in [None, Some(""), Some("nonsense"), Some(other.as_str())] {
        let decision = secret().decide_link(&link.row, &link.token, cookie, now());
        let LinkDecision::ShowCode(code) = decision else { panic!("{decision:?}") };
        assert!(code.len() == 6 && code.bytes().all(|it| it.is_ascii_digit()), "{code}");
        // With the code alone, the scanner has nothing: it lacks the cookie.
        let typed = secret().decide_code(&link.row, &code, cookie, now());
        assert_eq!(typed, CodeDecision::Refused(LinkRefusal::OtherBrowser));
    }
}

#[test]
fn a_code_is_accepted_in_the_browser_that_asked_within_five_tries() {
    let link = minted(MailPurpose::SignIn);
    let cookie = link.browser_cookie.as_deref();
    let code = code_of(&link);
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let mut row = MailLinkRow { is_code_shown: true, ..link.row.clone() };
    let shown = row.clone();
    let decide = |row: &MailLinkRow, code: &str| secret().decide_code(row, code, cookie, now());
    for tries_left in (0..CODE_TRIES_MAX).rev() {
        assert_eq!(decide(&row, &code), CodeDecision::Complete);
        assert_eq!(decide(&row, wrong), CodeDecision::WrongCode { tries_left });
        row.wrong_codes += 1;
    }
    let too_many = CodeDecision::Refused(LinkRefusal::TooManyTries);
    assert_eq!(decide(&row, &code), too_many, "also with the right one");
    let void = secret().decide_link(&row, &link.token, cookie, now());
    assert_eq!(void, LinkDecision::Refused(LinkRefusal::TooManyTries));
    let spaced = format!(" {} {} ", &code[..3], &code[3..]);
    assert_eq!(decide(&shown, &spaced), CodeDecision::Complete);
    for text in ["", "0", &format!("{code}0"), "٠٠٠٠٠٠"] {
        assert!(matches!(decide(&shown, text), CodeDecision::WrongCode { .. }), "{text}");
    }
}

#[test]
fn a_code_that_was_not_shown_cannot_be_guessed() {
    // Anybody can ask for a link to another person's mailbox, and has the cookie then.
    let link = minted(MailPurpose::SignIn);
    let cookie = link.browser_cookie.as_deref();
    for code in [code_of(&link).as_str(), "000000", ""] {
        let decision = secret().decide_code(&link.row, code, cookie, now());
        assert_eq!(decision, CodeDecision::Refused(LinkRefusal::CodeNotShown));
    }
}

#[test]
fn links_are_valid_once_and_newer_ones_void_older_ones() {
    let link = minted(MailPurpose::SignIn);
    let cookie = link.browser_cookie.as_deref();
    for (state, refusal) in
        [(MailLinkState::Used, LinkRefusal::Used), (MailLinkState::Replaced, LinkRefusal::Replaced)]
    {
        let row = MailLinkRow { state, ..link.row.clone() };
        let decision = secret().decide_link(&row, &link.token, cookie, now());
        assert_eq!(decision, LinkDecision::Refused(refusal));
        let typed = secret().decide_code(&row, &code_of(&link), cookie, now());
        assert_eq!(typed, CodeDecision::Refused(refusal));
    }
}

#[test]
fn tokens_are_bound_to_their_purpose_and_stored_as_digests() {
    let link = minted(MailPurpose::SignIn);
    let digest = |purpose| secret().digest_token(purpose, &link.token);
    assert_eq!(digest(MailPurpose::SignIn), Some(link.row.token_digest));
    assert_ne!(digest(MailPurpose::Invitation), Some(link.row.token_digest));
    assert_ne!(digest(MailPurpose::AddressChange), Some(link.row.token_digest));
    assert_ne!(link.row.token_digest, [2; 32]);
    let row = MailLinkRow { purpose: MailPurpose::AddressChange, ..link.row.clone() };
    let cookie = link.browser_cookie.as_deref();
    let decision = secret().decide_link(&row, &link.token, cookie, now());
    assert_eq!(decision, LinkDecision::Refused(LinkRefusal::Unknown));
    assert_eq!(secret().digest_token(MailPurpose::SignIn, "short"), None);
    let other = MailLinkSecret::new(&[8; 32]).digest_token(MailPurpose::SignIn, &link.token);
    assert_ne!(other, Some(link.row.token_digest));
    for purpose in MailPurpose::ALL {
        assert_eq!(MailPurpose::parse(purpose.name()), Some(purpose));
    }
}

#[test]
fn invitations_are_valid_for_a_week_in_any_browser() {
    let link = minted(MailPurpose::Invitation);
    assert_eq!(link.browser_cookie, None);
    let decide = |at| secret().decide_link(&link.row, &link.token, None, at);
    assert_eq!(decide(later(7 * 86_400 - 1)), LinkDecision::Complete);
    assert_eq!(decide(later(7 * 86_400)), LinkDecision::Refused(LinkRefusal::Expired));
    let typed = secret().decide_code(&link.row, "000000", None, now());
    assert_eq!(typed, CodeDecision::Refused(LinkRefusal::OtherBrowser), "no codes for these");
}

#[test]
fn a_mailbox_gets_three_mails_an_hour() {
    let hour_ago = now().minus(Duration::from_secs(3600));
    assert!(decide_mail(&[], now()));
    assert!(decide_mail(&[now(), now()], now()));
    assert!(!decide_mail(&[now(), now(), now()], now()));
    assert!(decide_mail(&[now(), now(), hour_ago], now()));
}

#[test]
fn new_people_are_admitted_by_the_policy() {
    let corp = address("a@corp.example");
    let sub = address("a@sub.corp.example");
    let domains = SignUpPolicy::Domains(vec![MailDomain::parse("Corp.example").unwrap()]);
    let decide = |policy: &SignUpPolicy, verified_address, is_invited| {
        decide_sign_up(policy, SignUpApplicant { verified_address, is_invited })
    };
    let admitted = |credit| SignUpDecision::Admitted { gets_starting_credit: credit };
    let refused = SignUpDecision::Refused;
    assert_eq!(decide(&SignUpPolicy::Off, Some(&corp), true), refused(SignUpRefusal::Off));
    assert_eq!(decide(&SignUpPolicy::Open, None, false), admitted(false));
    assert_eq!(decide(&SignUpPolicy::Open, Some(&corp), false), admitted(true));
    let invited = &SignUpPolicy::Invited;
    assert_eq!(decide(invited, Some(&corp), true), admitted(true));
    assert_eq!(decide(invited, Some(&corp), false), refused(SignUpRefusal::NotInvited));
    assert_eq!(decide(invited, None, true), refused(SignUpRefusal::AddressUnverified));
    assert_eq!(decide(&domains, Some(&corp), false), admitted(true));
    assert_eq!(decide(&domains, Some(&sub), false), refused(SignUpRefusal::OtherDomain));
    assert_eq!(decide(&domains, Some(&sub), true), admitted(true), "invitations still count");
    assert_eq!(decide(&domains, None, false), refused(SignUpRefusal::AddressUnverified));
}

proptest! {
    #[test]
    fn any_address_is_survived_and_one_that_is_accepted_is_plain(
        text in prop_oneof!["(?s).{0,60}", "[a-zA-Z.+@ -]{0,40}", "[a-z]{1,5}@\\PC{1,20}"],
    ) {
        if let Ok(parsed) = MailAddress::parse(&text) {
            let plain = parsed.as_str();
            prop_assert!(plain.bytes().all(|it| it.is_ascii_graphic()), "{plain}");
            prop_assert_eq!(plain.matches('@').count(), 1);
            prop_assert_eq!(plain, plain.to_ascii_lowercase());
            prop_assert!(plain.len() <= MAIL_ADDRESS_BYTES_MAX);
            let again = MailAddress::parse(plain);
            prop_assert_eq!(again.as_ref(), Ok(&parsed));
        }
    }

    #[test]
    fn any_token_code_and_cookie_is_survived(
        token in "(?s).{0,60}", code in "(?s).{0,20}", cookie in "[A-Za-z0-9_=-]{0,50}",
    ) {
        let link = minted(MailPurpose::SignIn);
        let judged = secret().decide_link(&link.row, &token, Some(&cookie), now());
        prop_assert_eq!(judged, LinkDecision::Refused(LinkRefusal::Unknown));
        let judged = secret().decide_code(&link.row, &code, Some(&cookie), now());
        prop_assert_eq!(judged, CodeDecision::Refused(LinkRefusal::OtherBrowser));
    }
}
