//! Checks a model against keys that are limited to private models.

use super::{ContentPrivacy, ModelResolveError, ModelType, ResolvedModel};
use crate::access::ModelPrivacy;

impl ResolvedModel<'_> {
    /// Returns the model if it satisfies the key's privacy restriction.
    pub fn check_privacy(self, wanted: ModelPrivacy) -> Result<Self, ModelResolveError> {
        let must_be_private = match wanted {
            ModelPrivacy::All => false,
            ModelPrivacy::PrivateText => self.model.model_type() == ModelType::Text,
            ModelPrivacy::PrivateOnly => true,
        };
        if must_be_private && self.model.privacy != ContentPrivacy::Private {
            let (id, wanted) = (self.model.id.clone(), wanted.name());
            return Err(ModelResolveError::NotPrivate { id, wanted });
        }
        Ok(self)
    }
}
