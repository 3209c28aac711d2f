//! The browser's return: only with the state of its own attempt, and only to pages of ours.

use moment::Timestamp;
use sign_in::{
    AttemptPurpose, AttemptSigner, CallbackRules, MailAddress, ReturnPath, SignInAttempt,
    SignInProviderId, read_callback,
};
use url::Url;

/// Takes the input as the query of a callback, a cookie, a return path and a mail address.
pub(crate) fn sign_in_callback(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let now = Timestamp::from_ms(1_795_000_000_000);
    let signer = AttemptSigner::new(&[7; 32]);
    let id = SignInProviderId::parse("corp").expect("a plain id");
    let path = ReturnPath::start();
    let attempt = SignInAttempt::begin([5; 16], id.clone(), AttemptPurpose::SignIn, path, now);
    let rules = CallbackRules {
        provider: &id,
        issuer: Some("https://sso.example.com"),
        is_issuer_required: true,
    };
    let stranger = AttemptSigner::new(&[8; 32]);
    assert!(read_callback(&text, rules, &stranger, &attempt).is_err(), "nobody knows the state");
    assert_eq!(stranger.open_attempt(&text, now), None, "nobody seals attempts");
    check_return_path(&text);
    if let Ok(address) = MailAddress::parse(&text) {
        assert_eq!(MailAddress::parse(address.as_str()).as_ref(), Ok(&address));
        assert!(address.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
    }
    let answered = format!("{text}&state={}", signer.state(&attempt));
    read_callback(&answered, rules, &signer, &attempt).is_ok()
}

fn check_return_path(text: &str) {
    let Some(path) = ReturnPath::parse(text) else { return };
    let page = Url::parse("https://api.example.com/console/x").expect("an address");
    let reached = page.join(path.as_str()).expect("an accepted path is an address");
    assert_eq!(reached.origin(), page.origin());
    let again = page.join(&reached[url::Position::BeforePath..]).expect("written anew");
    assert_eq!(again, reached);
}
