//! Sign-ins at npm `oidc-provider`, as fixtures/record.mjs recorded them: our addresses and forms are
//! those that it accepted, and its answers are accepted.

use moment::Timestamp;
use serde_json::Value;

use super::world::{provider_id, signer};
use crate::{
    AttemptPurpose, AuthorizationRequest, CallbackRules, ClientAuthentication, ClientCredentials,
    CodeVerifier, IdTokenRefusal, IdTokenRules, IdTokenVerdict, IssuerUrl, KeySet,
    ProviderMetadata, ReturnPath, SignInAttempt, TokenAlgorithm, TokenAnswer, TokenAnswerFault,
    TokenRequest, add_user_info, build_authorization_url, build_callback_url,
    build_end_session_url, read_callback, verify_id_token,
};

fn recorded() -> Value {
    serde_json::from_str(include_str!("../../fixtures/oidc_provider.json")).unwrap()
}

fn issuer() -> IssuerUrl {
    IssuerUrl::parse("http://localhost:34567").unwrap()
}

fn text<'a>(flow: &'a Value, field: &str) -> &'a str {
    flow[field].as_str().unwrap()
}

fn client(flow: &Value) -> ClientCredentials {
    let id = format!("tollgate-{}", text(flow, "algorithm"));
    ClientCredentials { id, secret: Some("p:ss%w0rd+/".to_owned()) }
}

fn metadata(recorded: &Value) -> ProviderMetadata {
    ProviderMetadata::parse(&issuer(), text(recorded, "discovery").as_bytes()).unwrap()
}

#[test]
fn a_real_providers_documents_are_read() {
    let recorded = recorded();
    let metadata = metadata(&recorded);
    assert_eq!(metadata.algorithms, TokenAlgorithm::ALL);
    assert_eq!(metadata.client_authentication, ClientAuthentication::Basic);
    assert!(metadata.names_issuer);
    let end = build_end_session_url(&metadata, &client(&recorded["flows"][0]), "http://a.example/");
    let expected = "http://localhost:34567/session/end?client_id=tollgate-RS256&\
                    post_logout_redirect_uri=http%3A%2F%2Fa.example%2F";
    assert_eq!(end.as_deref(), Some(expected));
}

#[test]
fn whole_sign_ins_at_a_real_provider_are_accepted_with_each_algorithm() {
    let recorded = recorded();
    let metadata = metadata(&recorded);
    let keys = KeySet::parse(text(&recorded, "keys").as_bytes()).unwrap();
    let at = Timestamp::from_ms(recorded["recordedAtSeconds"].as_i64().unwrap() * 1000);
    let (signer, id) = (signer(), provider_id("corp"));
    let callback = build_callback_url("http://localhost:8080", &id);
    let flows = recorded["flows"].as_array().unwrap();
    assert_eq!(flows.len(), TokenAlgorithm::ALL.len());
    for (index, flow) in flows.iter().enumerate() {
        let number = u8::try_from(index).unwrap();
        let attempt = SignInAttempt::begin(
            [number; 16],
            id.clone(),
            AttemptPurpose::SignIn,
            ReturnPath::start(),
            at,
        );
        let client = client(flow);
        let request = AuthorizationRequest::of_oidc(&metadata);
        let asked = build_authorization_url(request, &client, &callback, &signer, &attempt);
        assert_eq!(asked, text(flow, "asked"));

        let rules = CallbackRules {
            provider: &id,
            issuer: Some("http://localhost:34567"),
            is_issuer_required: metadata.names_issuer,
        };
        let code = read_callback(text(flow, "query"), rules, &signer, &attempt).unwrap();
        let verifier = CodeVerifier::of_attempt(&signer, &attempt);
        let authentication = metadata.client_authentication;
        let endpoint = &metadata.token_endpoint;
        let request =
            TokenRequest::new(endpoint, authentication, &client, &callback, &code, &verifier);
        assert_eq!(request.form, text(flow, "request"));
        assert_eq!(request.authorization.as_deref(), Some(text(flow, "authorization")));
        let replayed = TokenAnswer::parse(text(flow, "replayed").as_bytes());
        assert_eq!(replayed, Err(TokenAnswerFault::CodeRefused));

        let answer = TokenAnswer::parse(text(flow, "answer").as_bytes()).unwrap();
        let nonce = signer.nonce(&attempt);
        let issuer = issuer();
        let rules = IdTokenRules {
            issuer: &issuer,
            client_id: &client.id,
            algorithms: &metadata.algorithms,
            nonce: &nonce,
            trusts_addresses: false,
        };
        let token = answer.id_token.unwrap();
        let Ok(IdTokenVerdict::Verified(claims)) = verify_id_token(rules, &keys, &token, at) else {
            panic!("{}", text(flow, "algorithm"));
        };
        assert_eq!(claims.identity.subject(), "ada-17");
        assert_eq!(claims.address, None, "this provider has it at the userinfo endpoint");
        let claims = add_user_info(claims, text(flow, "userInfo").as_bytes(), false).unwrap();
        assert_eq!(claims.verified_address().unwrap().as_str(), "ada@example.com");
        assert_eq!(claims.name.as_deref(), Some("Ada Lovelace"));

        let other = IdTokenRules { nonce: "another", ..rules };
        assert_eq!(verify_id_token(other, &keys, &token, at), Err(IdTokenRefusal::Nonce));
    }
}
