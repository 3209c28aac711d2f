//! Keys that are for private models only.

use super::{ModelType, Privacy, Resolved, Unresolved};
use crate::access::ModelPrivacy;

impl Resolved<'_> {
    /// The same, unless the caller's key is for models that are more private than this one.
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
