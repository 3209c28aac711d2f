//! The ways to sign in that the operator has configured: one list, whatever their kind.

use std::fmt;

use thiserror::Error;

use crate::github::GithubEndpoints;
use crate::provider_url::IssuerUrl;

const ID_CHARACTERS_MAX: usize = 32;
/// Ids that are paths of their own beside the providers'.
const RESERVED_IDS: [&str; 1] = ["mail"];

/// The id of a configured provider, part of our addresses: 1 to 32 of `a-z 0-9 -`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignInProviderId(String);

impl SignInProviderId {
    pub fn parse(text: &str) -> Option<SignInProviderId> {
        let is_sized = (1..=ID_CHARACTERS_MAX).contains(&text.len());
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        let is_free = !RESERVED_IDS.contains(&text);
        (is_sized && is_plain && is_free).then(|| SignInProviderId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Our name and secret at a provider.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCredentials {
    pub id: String,
    /// None for a public client, which proves itself by PKCE alone.
    pub secret: Option<String>,
}

/// Without the secret.
impl fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCredentials").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInProvider {
    pub id: SignInProviderId,
    /// The label of the button.
    pub name: String,
    pub client: ClientCredentials,
    pub kind: SignInProviderKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInProviderKind {
    Oidc(OidcProvider),
    Github(GithubEndpoints),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OidcProvider {
    pub issuer: IssuerUrl,
    /// True if addresses count as verified where the provider says nothing about it. An
    /// `email_verified` that is anything but `true` is never overruled.
    pub trusts_addresses: bool,
}

impl SignInProvider {
    /// The issuer of its identities. Bindings of people name it and not the id of the entry, so an
    /// entry that is changed to another provider does not inherit people.
    pub fn issuer(&self) -> &str {
        match &self.kind {
            SignInProviderKind::Oidc(oidc) => oidc.issuer.as_str(),
            SignInProviderKind::Github(github) => github.issuer(),
        }
    }
}

/// The configured providers: each id and each issuer once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignInProviders(Vec<SignInProvider>);

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProviderListFault {
    #[error("two sign-in providers have the id `{0}`")]
    RepeatedId(String),
    #[error("two sign-in providers have the issuer {0}: people could not tell them apart")]
    RepeatedIssuer(String),
}

impl SignInProviders {
    /// Every fault of the list, or the list.
    pub fn new(providers: Vec<SignInProvider>) -> Result<SignInProviders, Vec<ProviderListFault>> {
        let mut faults = Vec::new();
        for (index, provider) in providers.iter().enumerate() {
            let before = &providers[..index];
            if before.iter().any(|it| it.id == provider.id) {
                faults.push(ProviderListFault::RepeatedId(provider.id.as_str().to_owned()));
            }
            if before.iter().any(|it| it.issuer() == provider.issuer()) {
                faults.push(ProviderListFault::RepeatedIssuer(provider.issuer().to_owned()));
            }
        }
        if faults.is_empty() { Ok(SignInProviders(providers)) } else { Err(faults) }
    }

    pub fn find_provider(&self, id: &str) -> Option<&SignInProvider> {
        self.0.iter().find(|it| it.id.as_str() == id)
    }

    pub fn list_providers(&self) -> &[SignInProvider] {
        &self.0
    }
}
