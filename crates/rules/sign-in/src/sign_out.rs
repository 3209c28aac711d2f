//! The end of sessions: everywhere at once, and at the provider.

use crate::discovery::ProviderMetadata;
use crate::provider::ClientCredentials;

/// A number of a person that its sessions carry. "Sign out everywhere" raises it, which ends all
/// sessions that were made before, on every node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionGeneration(pub u64);

impl SessionGeneration {
    /// The generation after a sign-out everywhere.
    pub fn next_generation(self) -> SessionGeneration {
        SessionGeneration(self.0.saturating_add(1))
    }

    /// True if a session of this generation is one of the person's current ones.
    pub fn is_current(self, of_person: SessionGeneration) -> bool {
        self == of_person
    }
}

/// The address at which a person can also end the session with the provider, as a link after the
/// sign-out here (OpenID Connect RP-Initiated Logout). None if the provider has none.
pub fn build_end_session_url(
    metadata: &ProviderMetadata,
    client: &ClientCredentials,
    return_url: &str,
) -> Option<String> {
    let endpoint = metadata.end_session_endpoint.as_ref()?;
    let parameters = [("client_id", client.id.as_str()), ("post_logout_redirect_uri", return_url)];
    Some(endpoint.with_parameters(&parameters))
}
