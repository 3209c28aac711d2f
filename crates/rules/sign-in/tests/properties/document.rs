//! Documents and answers of providers: what is accepted is protected and bounded.

use sign_in::{
    GithubEndpoints, IssuerUrl, KeySet, MailAddress, ProviderMetadata, ProviderUrl, TokenAnswer,
    read_github_addresses, read_github_user,
};

/// Takes the input as each document and answer that a provider sends.
pub(crate) fn provider_document(bytes: &[u8]) -> bool {
    let issuer = IssuerUrl::parse("https://sso.example.com").expect("an https address");
    let metadata = ProviderMetadata::parse(&issuer, bytes);
    if let Ok(metadata) = &metadata {
        assert!(!metadata.algorithms.is_empty());
        let urls = [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.jwks_uri];
        let more = [&metadata.userinfo_endpoint, &metadata.end_session_endpoint];
        for url in urls.into_iter().chain(more.into_iter().flatten()) {
            assert_eq!(ProviderUrl::parse(url.as_str()).as_ref(), Some(url), "written as read");
            let host = url.as_str().strip_prefix("http://").unwrap_or("localhost");
            let is_here = ["localhost", "127.", "[::1]"].iter().any(|it| host.starts_with(it));
            assert!(is_here, "unprotected: {url}");
        }
    }
    let keys = KeySet::parse(bytes);
    let answer = TokenAnswer::parse(bytes);
    if let Ok(answer) = &answer {
        let is_header = |text: &String| text.bytes().all(|byte| byte.is_ascii_graphic());
        assert!(answer.access_token.as_ref().is_none_or(is_header));
    }
    let endpoints = GithubEndpoints::new("https://github.com", "https://api.github.com");
    let user = read_github_user(&endpoints.expect("https addresses"), bytes);
    if let Ok(claims) = &user {
        assert!(claims.identity.subject().bytes().all(|byte| byte.is_ascii_digit()));
    }
    let addresses = read_github_addresses(bytes);
    if let Ok(Some(claimed)) = &addresses {
        assert!(claimed.is_verified);
        assert_eq!(MailAddress::parse(claimed.address.as_str()).as_ref(), Ok(&claimed.address));
    }
    let has_address = matches!(addresses, Ok(Some(_)));
    metadata.is_ok() || keys.is_ok() || answer.is_ok() || user.is_ok() || has_address
}
