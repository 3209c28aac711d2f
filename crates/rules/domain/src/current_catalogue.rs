//! The current catalogue, which a reload replaces as a whole.

use std::sync::{Arc, PoisonError, RwLock};

use crate::catalogue::Catalogue;

/// Holds the current catalogue. A request keeps the catalogue that it got, even across a reload.
#[derive(Debug, Default)]
pub struct CurrentCatalogue {
    current: RwLock<Arc<Catalogue>>,
}

impl CurrentCatalogue {
    pub fn new(catalogue: Catalogue) -> CurrentCatalogue {
        CurrentCatalogue { current: RwLock::new(Arc::new(catalogue)) }
    }

    pub fn get(&self) -> Arc<Catalogue> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn replace(&self, catalogue: Catalogue) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalogue);
    }
}
