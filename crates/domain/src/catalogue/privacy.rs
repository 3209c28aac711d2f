//! Checks a model against keys that are limited to private models.

use super::{ModelType, Privacy, Resolved, Unresolved};
use crate::access::ModelPrivacy;

impl Resolved<'_> {
    /// Returns the model if it satisfies the key's privacy restriction.
    pub fn as_private_as(self, wanted: ModelPrivacy) -> Result<Self, Unresolved> {
        let must_be_private = match wanted {
            ModelPrivacy::All => false,
            ModelPrivacy::PrivateText => self.model.model_type() == ModelType::Text,
            ModelPrivacy::PrivateOnly => true,
        };
        if must_be_private && self.model.privacy != Privacy::Private {
            let (id, wanted) = (self.model.id.clone(), wanted.name());
            return Err(Unresolved::NotPrivate { id, wanted });
        }
        Ok(self)
    }
}
