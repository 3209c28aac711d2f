//! The mistakes that sign-ins of other services were attacked through, each as a test of its name.

use std::time::Duration;

use serde_json::json;

use super::world::{
    CLIENT, ISSUER, NONCE, TestKey, accept, address, attempt, claims, claims_with, client,
    identity_claims, issuer, judge, key_set, key_set_of, now, person, provider_id, rules, signer,
};
use crate::*;

fn facts() -> ArrivalFacts {
    ArrivalFacts { identity_holder: None, address_holder: None, is_invited: false, session: None }
}

fn sign_in(claims: &IdentityClaims, facts: ArrivalFacts) -> ArrivalDecision {
    decide_arrival(AttemptPurpose::SignIn, claims, facts, &SignUpPolicy::Open, now())
}

#[test]
fn account_taken_over_by_a_mail_claim() {
    let attacker = identity_claims("attacker", Some(("victim@example.com", true)));
    let victim = AddressHolder { person: person(1), is_verified: true };
    let decision = sign_in(&attacker, ArrivalFacts { address_holder: Some(victim), ..facts() });
    let refused = ArrivalDecision::Refused(ArrivalRefusal::AddressKnownElsewhere);
    assert_eq!(decision, refused, "an address never selects an account");
    // The same address at the same provider, under another subject, is another person too.
    let known = ArrivalFacts { identity_holder: Some(person(2)), ..facts() };
    assert_eq!(sign_in(&attacker, known), ArrivalDecision::SignIn(person(2)));
    let known = ArrivalFacts { address_holder: Some(victim), ..known };
    assert_eq!(sign_in(&attacker, known), ArrivalDecision::SignIn(person(2)));
    // The mailbox itself does not select it either: the person signs in as before, and adds it.
    let mailbox = IdentityClaims {
        identity: PersonIdentity::of_mailbox(&address("victim@example.com")),
        ..attacker
    };
    let decision = sign_in(&mailbox, ArrivalFacts { address_holder: Some(victim), ..facts() });
    assert_eq!(decision, refused);
}

#[test]
fn identity_is_issuer_and_subject_and_nothing_else() {
    let ours = accept(&claims());
    let moved = accept(&claims_with(json!({"email": "new@example.com", "name": "New"})));
    assert_eq!(ours.identity, moved.identity, "who changes the address stays the same person");
    let reused = accept(&claims_with(json!({"sub": "ada-18"})));
    assert_ne!(ours.identity, reused.identity, "who gets the address is another person");
    assert_ne!(ours.identity, PersonIdentity::new("https://other.example.com", "ada-17").unwrap());
    assert_ne!(
        ours.identity,
        PersonIdentity::new(ISSUER, "ADA-17").unwrap(),
        "subjects have a case"
    );
    for subject in [json!(null), json!(17), json!(""), json!("x".repeat(256)), json!("a\nb")] {
        let judged = judge(&claims_with(json!({"sub": subject})));
        assert_eq!(judged, Err(IdTokenRefusal::Subject), "{subject}");
    }
}

#[test]
fn pre_hijacking_with_an_unverified_address() {
    // Somebody has entered the victim's address before; the victim's own sign-in is not given to
    // that account, and is not refused for it.
    let victim = identity_claims("victim", Some(("victim@example.com", true)));
    let squatter = AddressHolder { person: person(6), is_verified: false };
    let decision = sign_in(&victim, ArrivalFacts { address_holder: Some(squatter), ..facts() });
    assert_eq!(decision, ArrivalDecision::SignUp { gets_starting_credit: true });
}

#[test]
fn linking_from_inside_a_fresh_session_alone() {
    let claims = identity_claims("second", Some(("ada@example.com", true)));
    let add = AttemptPurpose::AddIdentity(person(1));
    let decide = |facts| decide_arrival(add, &claims, facts, &SignUpPolicy::Off, now());
    let session = |number, age_s| ArrivalFacts {
        session: Some(LinkingSession {
            person: person(number),
            made_at: now().minus(Duration::from_secs(age_s)),
        }),
        ..facts()
    };
    let too_old = ArrivalDecision::Refused(ArrivalRefusal::SessionTooOld);
    assert_eq!(decide(facts()), too_old, "no session");
    assert_eq!(decide(session(2, 0)), too_old, "another person has signed in since");
    assert_eq!(decide(session(1, 601)), too_old);
    let added = ArrivalDecision::AddIdentity { person: person(1), adds_address: true };
    assert_eq!(decide(session(1, 600)), added);

    let taken = ArrivalFacts { identity_holder: Some(person(2)), ..session(1, 0) };
    let of_another = ArrivalDecision::Refused(ArrivalRefusal::IdentityOfAnother);
    assert_eq!(decide(taken), of_another);
    let again = ArrivalFacts { identity_holder: Some(person(1)), ..session(1, 0) };
    assert_eq!(decide(again), ArrivalDecision::AlreadyAdded(person(1)));
    let held = AddressHolder { person: person(2), is_verified: true };
    let decision = decide(ArrivalFacts { address_holder: Some(held), ..session(1, 0) });
    let without = ArrivalDecision::AddIdentity { person: person(1), adds_address: false };
    assert_eq!(decision, without, "another person's address stays theirs");
}

#[test]
fn email_verified_is_json_true_or_it_is_not_verified() {
    for said in [json!("false"), json!("true"), json!(false), json!(1), json!([true])] {
        let claims = claims_with(json!({"email_verified": said}));
        assert_eq!(accept(&claims).verified_address(), None, "{said}");
    }
    assert_eq!(accept(&claims()).verified_address(), Some(&address("ada@example.com")));
}

#[test]
fn email_verified_that_is_absent_counts_by_the_operators_choice_alone() {
    let absent = claims_with(json!({"email_verified": null}));
    assert_eq!(accept(&absent).verified_address(), None);
    let judge_trusting = |claims: &serde_json::Value| {
        let issuer = issuer();
        let rules = IdTokenRules { trusts_addresses: true, ..rules(&issuer) };
        let head = json!({"alg": "ES256"});
        let token = TestKey::P256.token(TokenAlgorithm::Es256, &head, claims);
        match verify_id_token(rules, &key_set(), &token, now()) {
            Ok(IdTokenVerdict::Verified(claims)) => claims,
            other => panic!("{other:?}"),
        }
    };
    assert!(judge_trusting(&absent).verified_address().is_some());
    for said in [json!(false), json!("true"), json!("false")] {
        let denied = claims_with(json!({"email_verified": said}));
        assert_eq!(judge_trusting(&denied).verified_address(), None, "what is said counts");
    }
}

#[test]
fn no_mail_address_at_all_is_admitted_without_credit() {
    for claims in [claims_with(json!({"email": null})), claims_with(json!({"email": "nonsense"}))] {
        let claims = accept(&claims);
        assert_eq!(claims.address, None);
        let admitted = ArrivalDecision::SignUp { gets_starting_credit: false };
        assert_eq!(sign_in(&claims, facts()), admitted);
    }
}

fn corp(id: &SignInProviderId, is_issuer_required: bool) -> CallbackRules<'_> {
    CallbackRules { provider: id, issuer: Some(ISSUER), is_issuer_required }
}

#[test]
fn login_csrf_by_a_return_of_another_browser() {
    let (signer, id) = (signer(), provider_id("corp"));
    let other = SignInAttempt { id: [6; 16], ..attempt() };
    let read = |query: &str| read_callback(query, corp(&id, false), &signer, &attempt());
    let state = signer.state(&attempt());
    assert!(read(&format!("code=abc&state={state}")).is_ok());
    for state in [signer.state(&other), String::new(), format!("{state}x"), state.to_uppercase()] {
        let refused = Err(CallbackRefusal::OtherAttempt);
        assert_eq!(read(&format!("code=abc&state={state}")), refused);
        assert_eq!(read(&format!("error=access_denied&state={state}")), refused);
    }
    assert_eq!(read("code=abc"), Err(CallbackRefusal::OtherAttempt));
    let stranger = AttemptSigner::new(&[8; 32]).state(&attempt());
    assert!(read(&format!("code=abc&state={stranger}")).is_err());
}

#[test]
fn code_injection_by_a_code_of_another_sign_in() {
    let (signer, attempt) = (signer(), attempt());
    let other = SignInAttempt { id: [6; 16], ..attempt.clone() };
    // The provider compares the challenge with the verifier, and the nonce comes back signed.
    assert_ne!(signer.code_verifier(&attempt), signer.code_verifier(&other));
    assert_ne!(signer.code_verifier(&attempt), signer.state(&attempt));
    assert_ne!(signer.code_challenge(&attempt), signer.code_verifier(&attempt));
    assert_eq!(signer.code_verifier(&attempt).len(), 43);
    for nonce in [json!(null), json!(signer.nonce(&other)), json!(""), json!(true)] {
        let judged = judge(&claims_with(json!({"nonce": nonce})));
        assert_eq!(judged, Err(IdTokenRefusal::Nonce));
    }
    let sealed = signer.seal_attempt(&attempt);
    let readable =
        String::from_utf8_lossy(&crate::encoding::decode_base64url(&sealed).unwrap()).into_owned();
    assert!(!readable.contains(&signer.code_verifier(&attempt)));
    assert!(!sealed.contains(&signer.code_verifier(&attempt)));
}

#[test]
fn mix_up_by_an_answer_of_another_provider() {
    let (signer, id, other) = (signer(), provider_id("corp"), provider_id("other"));
    let state = signer.state(&attempt());
    let read = |rules, query: &str| {
        read_callback(&format!("code=abc&state={state}{query}"), rules, &signer, &attempt())
    };
    let wrong = Err(CallbackRefusal::OtherIssuer);
    assert!(read(corp(&id, true), "&iss=https%3A%2F%2Fsso.example.com").is_ok());
    assert_eq!(read(corp(&id, true), ""), wrong, "announced, and then required");
    assert_eq!(read(corp(&id, true), "&iss=https%3A%2F%2Fevil.example.com"), wrong);
    assert_eq!(read(corp(&id, false), "&iss=https%3A%2F%2Fsso.example.com%2F"), wrong);
    assert!(read(corp(&id, false), "").is_ok());
    assert_eq!(read(corp(&other, false), ""), Err(CallbackRefusal::OtherAttempt), "other path");
    let doubled = read(corp(&id, true), &format!("&iss={ISSUER}&iss=https://evil.example.com"));
    assert_eq!(doubled, Err(CallbackRefusal::Malformed));
}

#[test]
fn keys_rotate_and_an_unknown_key_id_asks_for_new_ones() {
    let head = json!({"alg": "RS256", "kid": "new"});
    let token = TestKey::RsaOther.token(TokenAlgorithm::Rs256, &head, &claims());
    let issuer = issuer();
    let verify = |keys: &KeySet| verify_id_token(rules(&issuer), keys, &token, now());
    assert_eq!(verify(&key_set()), Ok(IdTokenVerdict::FetchKeys));
    let rotated = key_set_of(&[TestKey::Rsa.jwk("rsa"), TestKey::RsaOther.jwk("new")]);
    assert!(matches!(verify(&rotated), Ok(IdTokenVerdict::Verified(_))));
    // The id of a key that there is, with a signature of another one, is a forgery.
    let head = json!({"alg": "RS256", "kid": "rsa"});
    let forged = TestKey::RsaOther.token(TokenAlgorithm::Rs256, &head, &claims());
    let judged = verify_id_token(rules(&issuer), &rotated, &forged, now());
    assert_eq!(judged, Err(IdTokenRefusal::Signature));
    // Without an id, every key of the algorithm is tried.
    let head = json!({"alg": "RS256"});
    let unnamed = TestKey::RsaOther.token(TokenAlgorithm::Rs256, &head, &claims());
    let judged = verify_id_token(rules(&issuer), &rotated, &unnamed, now());
    assert!(matches!(judged, Ok(IdTokenVerdict::Verified(_))));
    let judged = verify_id_token(rules(&issuer), &key_set(), &unnamed, now());
    assert_eq!(judged, Ok(IdTokenVerdict::FetchKeys));
}

#[test]
fn keys_are_fetched_once_a_minute_and_kept_if_the_fetch_fails() {
    let at = |s: u64| now().plus(Duration::from_secs(s));
    let mut cache = KeySetCache::default();
    assert!(cache.is_stale(at(0)) && cache.begin_fetch(at(0)));
    assert!(!cache.begin_fetch(at(59)), "a made-up key id calls nobody");
    assert!(cache.begin_fetch(at(60)));
    cache.store_keys(key_set(), at(61));
    assert!(!cache.is_stale(at(62)));
    assert!(cache.begin_fetch(at(200)));
    assert!(cache.keys().is_some(), "the fetch at 200 s has failed");
    assert!(cache.is_stale(at(61 + KEYS_FRESH_S)), "a withdrawn key is forgotten in the end");
    assert!(cache.begin_fetch(now()), "a clock that was set back does not stop it");
}

#[test]
fn keys_and_their_addresses_in_a_token_are_not_used() {
    let issuer = issuer();
    for (name, value) in [
        ("jwk", TestKey::RsaOther.jwk("rsa")),
        ("jku", json!("https://evil.example.com/keys")),
        ("x5u", json!("https://evil.example.com/chain")),
        ("x5c", json!(["MIIB"])),
    ] {
        let mut head = json!({"alg": "RS256", "kid": "rsa"});
        head[name] = value;
        let forged = TestKey::RsaOther.token(TokenAlgorithm::Rs256, &head, &claims());
        let judged = verify_id_token(rules(&issuer), &key_set(), &forged, now());
        assert_eq!(judged, Err(IdTokenRefusal::Signature), "{name}");
        let honest = TestKey::Rsa.token(TokenAlgorithm::Rs256, &head, &claims());
        let judged = verify_id_token(rules(&issuer), &key_set(), &honest, now());
        assert!(matches!(judged, Ok(IdTokenVerdict::Verified(_))), "{name} is ignored");
    }
}

#[test]
fn algorithms_with_a_shared_secret_and_none_are_refused() {
    use hmac::{Hmac, KeyInit, Mac};
    let issuer = issuer();
    let verify = |token: &str| verify_id_token(rules(&issuer), &key_set(), token, now());
    let part =
        |value: &serde_json::Value| crate::encoding::encode_base64url(value.to_string().as_bytes());
    // The public key as the secret of HMAC: the classical confusion.
    let modulus = TestKey::Rsa.jwk("rsa")["n"].as_str().unwrap().to_owned();
    let signed = format!("{}.{}", part(&json!({"alg": "HS256", "kid": "rsa"})), part(&claims()));
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(modulus.as_bytes()).unwrap();
    mac.update(signed.as_bytes());
    let code = crate::encoding::encode_base64url(&mac.finalize().into_bytes());
    assert_eq!(verify(&format!("{signed}.{code}")), Err(IdTokenRefusal::Algorithm));
    for name in ["none", "None", "NONE", "HS384", "HS512", "RS1", "ES256K", "rs256", "PS384", ""] {
        let signed = format!("{}.{}", part(&json!({"alg": name})), part(&claims()));
        assert_eq!(verify(&format!("{signed}.AAAA")), Err(IdTokenRefusal::Algorithm), "{name}");
    }
    let unsigned = format!("{}.{}.", part(&json!({"alg": "none"})), part(&claims()));
    assert_eq!(verify(&unsigned), Err(IdTokenRefusal::Malformed));
    // An algorithm that is accepted in general, and that this provider does not use.
    let head = json!({"alg": "RS256", "kid": "rsa"});
    let token = TestKey::Rsa.token(TokenAlgorithm::Rs256, &head, &claims());
    let narrow = IdTokenRules { algorithms: &[TokenAlgorithm::Es256], ..rules(&issuer) };
    let judged = verify_id_token(narrow, &key_set(), &token, now());
    assert_eq!(judged, Err(IdTokenRefusal::Algorithm));
}

#[test]
fn audience_list_and_authorized_party() {
    let is_accepted = |changes| judge(&claims_with(changes)).is_ok();
    assert!(is_accepted(json!({"aud": [CLIENT]})));
    assert!(is_accepted(json!({"aud": [CLIENT, "other"], "azp": CLIENT})));
    assert!(is_accepted(json!({"azp": CLIENT})));
    for changes in [
        json!({"aud": null}),
        json!({"aud": "other"}),
        json!({"aud": []}),
        json!({"aud": ["other"]}),
        json!({"aud": {"0": CLIENT}}),
        json!({"aud": [CLIENT, "other"]}),
        json!({"aud": [CLIENT, "other"], "azp": "other"}),
        json!({"aud": ["other", "third"], "azp": CLIENT}),
        json!({"azp": "other"}),
        json!({"azp": [CLIENT]}),
        json!({"aud": vec![CLIENT; 33], "azp": CLIENT}),
    ] {
        let judged = judge(&claims_with(changes.clone()));
        assert_eq!(judged, Err(IdTokenRefusal::Audience), "{changes}");
    }
}

#[test]
fn clocks_may_differ_by_a_minute() {
    let now_s = now().seconds();
    let is = |changes| judge(&claims_with(changes)).map(|_| ());
    assert_eq!(is(json!({"exp": now_s - 59})), Ok(()));
    assert_eq!(is(json!({"exp": now_s - 60})), Err(IdTokenRefusal::Expired));
    assert_eq!(is(json!({"exp": null})), Err(IdTokenRefusal::Expired));
    assert_eq!(is(json!({"exp": "never"})), Err(IdTokenRefusal::Expired));
    assert_eq!(is(json!({"iat": now_s + 60})), Ok(()));
    assert_eq!(is(json!({"iat": now_s + 61})), Err(IdTokenRefusal::Future));
    assert_eq!(is(json!({"iat": null})), Err(IdTokenRefusal::Malformed));
    assert_eq!(is(json!({"nbf": now_s + 60})), Ok(()));
    assert_eq!(is(json!({"nbf": now_s + 61})), Err(IdTokenRefusal::Future));
    assert_eq!(is(json!({"nbf": "now"})), Err(IdTokenRefusal::Malformed));
    assert_eq!(is(json!({"exp": 1.795e9 + 0.5, "iat": 1.794_999_9e9})), Ok(()), "fractions");
    assert_eq!(is(json!({"exp": 1e300})), Err(IdTokenRefusal::Expired));
    assert_eq!(is(json!({"exp": i64::MAX})), Ok(()));
    assert_eq!(is(json!({"exp": i64::MIN})), Err(IdTokenRefusal::Expired));
}

#[test]
fn issuer_is_exact_and_a_common_one_of_many_tenants_is_refused() {
    for other in [
        "https://sso.example.com/",
        "https://SSO.example.com",
        "http://sso.example.com",
        "https://sso.example.com.evil.example.com",
        "",
    ] {
        let judged = judge(&claims_with(json!({"iss": other})));
        assert_eq!(judged, Err(IdTokenRefusal::IssuerUrl), "{other}");
    }
    let common = IssuerUrl::parse("https://login.example.com/common/v2.0").unwrap();
    let document = json!({
        "issuer": "https://login.example.com/{tenantid}/v2.0",
        "authorization_endpoint": "https://login.example.com/a",
        "token_endpoint": "https://login.example.com/t",
        "jwks_uri": "https://login.example.com/k",
    });
    let fault = ProviderMetadata::parse(&common, document.to_string().as_bytes()).unwrap_err();
    assert!(matches!(fault, DiscoveryFault::OtherIssuer { .. }));
    assert!(fault.to_string().contains("your tenant"), "{fault}");
    assert_eq!(IssuerUrl::parse("https://login.example.com/{tenantid}/v2.0"), None);
}

#[test]
fn cookie_of_an_attempt_is_lax_bound_to_the_host_and_short() {
    let sealed = signer().seal_attempt(&attempt());
    assert_eq!(
        set_attempt_cookie(&sealed, true),
        format!(
            "__Host-tollgate_sign_in={sealed}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure"
        )
    );
    let cleared = "tollgate_sign_in=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax";
    assert_eq!(clear_attempt_cookie(false), cleared);
    let ten_minutes = now().plus(Duration::from_secs(600));
    let last = now().plus(Duration::from_millis(599_999));
    assert_eq!(signer().open_attempt(&sealed, last), Some(attempt()));
    assert_eq!(signer().open_attempt(&sealed, ten_minutes), None);
}

#[test]
fn sign_out_everywhere_ends_sessions_of_earlier_generations() {
    let before = SessionGeneration::default();
    let after = before.next_generation();
    assert!(before.is_current(before) && after.is_current(after));
    assert!(!before.is_current(after), "a sealed cookie of before the sign-out");
    assert!(!after.is_current(before), "a node that has not heard of it yet refuses too");
}

fn oidc(id: &str, issuer: &str) -> SignInProvider {
    let issuer = IssuerUrl::parse(issuer).unwrap();
    let kind = SignInProviderKind::Oidc(OidcProvider { issuer, trusts_addresses: false });
    SignInProvider { id: provider_id(id), name: id.to_owned(), client: client(), kind }
}

#[test]
fn two_configurations_of_the_same_thing_are_a_fault() {
    let github = |id: &str| SignInProvider {
        kind: SignInProviderKind::Github(
            GithubEndpoints::new("https://github.com", "https://api.github.com").unwrap(),
        ),
        ..oidc(id, ISSUER)
    };
    let good = SignInProviders::new(vec![oidc("corp", ISSUER), github("github")]).unwrap();
    assert_eq!(good.find_provider("github").unwrap().issuer(), "https://github.com");
    assert_eq!(good.find_provider("gitlab"), None);
    let faults = SignInProviders::new(vec![
        oidc("corp", ISSUER),
        oidc("corp", "https://two.example.com"),
        oidc("again", ISSUER),
        github("a"),
        github("b"),
    ]);
    let expected = vec![
        ProviderListFault::RepeatedId("corp".to_owned()),
        ProviderListFault::RepeatedIssuer(ISSUER.to_owned()),
        ProviderListFault::RepeatedIssuer("https://github.com".to_owned()),
    ];
    assert_eq!(faults, Err(expected));
    assert_eq!(SignInProviderId::parse("mail"), None, "has a path of its own");
}

#[test]
fn bindings_left_after_a_provider_was_replaced_belong_to_the_old_issuer() {
    let before = PersonIdentity::new(oidc("corp", ISSUER).issuer(), "17").unwrap();
    let after =
        PersonIdentity::new(oidc("corp", "https://new.example.com").issuer(), "17").unwrap();
    assert_ne!(before, after, "the entry kept its id, and the people are others");
}

#[test]
fn existing_people_sign_in_whatever_the_policy_for_new_ones() {
    let claims = identity_claims("known", None);
    let known = ArrivalFacts { identity_holder: Some(person(3)), ..facts() };
    let domains = SignUpPolicy::Domains(vec![MailDomain::parse("corp.example").unwrap()]);
    for policy in [SignUpPolicy::Off, SignUpPolicy::Invited, domains, SignUpPolicy::Open] {
        let decision = decide_arrival(AttemptPurpose::SignIn, &claims, known, &policy, now());
        assert_eq!(decision, ArrivalDecision::SignIn(person(3)));
    }
}

#[test]
fn github_identity_is_the_number_and_not_the_login() {
    let endpoints = GithubEndpoints::new("https://github.com/", "https://api.github.com").unwrap();
    assert_eq!(endpoints.emails.as_str(), "https://api.github.com/user/emails?per_page=100");
    let user = json!({"id": 583_231, "login": "octocat", "name": null, "email": "o@example.com"});
    let claims = read_github_user(&endpoints, user.to_string().as_bytes()).unwrap();
    assert_eq!(claims.identity, PersonIdentity::new("https://github.com", "583231").unwrap());
    assert_eq!(claims.address, None, "the public address says nothing");
    assert_eq!(claims.name.as_deref(), Some("octocat"));
    for id in [json!("583231"), json!(0), json!(-1), json!(1.5), json!(null)] {
        let user = json!({"id": id, "login": "octocat"}).to_string();
        assert_eq!(read_github_user(&endpoints, user.as_bytes()), Err(GithubFault::User));
    }
    let emails = json!([
        {"email": "a@example.com", "primary": false, "verified": true},
        {"email": "b@example.com", "primary": true, "verified": "true"},
        {"email": "C@example.com", "primary": true, "verified": true, "visibility": null},
    ]);
    let found = read_github_addresses(emails.to_string().as_bytes()).unwrap().unwrap();
    assert_eq!((found.address.as_str(), found.is_verified), ("c@example.com", true));
    let unverified = json!([{"email": "b@example.com", "primary": true, "verified": false}]);
    assert_eq!(read_github_addresses(unverified.to_string().as_bytes()), Ok(None));
    assert_eq!(read_github_addresses(b"{}"), Err(GithubFault::Addresses));
    let url = build_authorization_url(
        endpoints.authorization_request(),
        &client(),
        "https://api.example.com/console/sign-in/github/callback",
        &signer(),
        &attempt(),
    );
    assert!(url.starts_with("https://github.com/login/oauth/authorize?response_type=code&"));
    assert!(url.contains("&code_challenge_method=S256") && !url.contains("nonce"), "{url}");
}

#[test]
fn nonce_of_the_rules_is_never_empty() {
    let issuer = issuer();
    let rules = IdTokenRules { nonce: "", ..rules(&issuer) };
    let head = json!({"alg": "ES256"});
    let token =
        TestKey::P256.token(TokenAlgorithm::Es256, &head, &claims_with(json!({"nonce": ""})));
    assert_eq!(verify_id_token(rules, &key_set(), &token, now()), Err(IdTokenRefusal::Nonce));
    assert_eq!(accept(&claims()).identity.subject(), "ada-17", "with {NONCE}");
}
