//! The service, its parts and settings.

use std::sync::Arc;

use card_payments::{CheckoutOptions, StripeMode, UsdCents, WebhookSecret};
use moment::Clock;
use tokio::sync::Mutex;

use crate::look_locks::LookLocks;
use crate::poll::SeenEvents;
use crate::ports::{CardLedger, CardStore, StripeApi};

/// Payments by card.
#[derive(Clone)]
pub struct CardService {
    pub(crate) parts: CardParts,
    pub(crate) settings: Arc<CardSettings>,
    pub(crate) locks: Arc<LookLocks>,
    pub(crate) seen: Arc<Mutex<SeenEvents>>,
}

#[derive(Clone)]
pub struct CardParts {
    pub stripe: Arc<dyn StripeApi>,
    pub store: Arc<dyn CardStore>,
    pub ledger: Arc<dyn CardLedger>,
    pub clock: Arc<dyn Clock>,
}

#[derive(Debug, Clone)]
pub struct CardSettings {
    /// The mode of the secret key.
    pub mode: StripeMode,
    pub webhook_secret: WebhookSecret,
    /// The service's own address: people return to its pages only.
    pub public_url: String,
    /// The name of what is bought, such as `Credit`.
    pub product: String,
    pub least: UsdCents,
    pub most: UsdCents,
    pub options: CheckoutOptions,
}

impl CardService {
    pub fn new(parts: CardParts, settings: CardSettings) -> CardService {
        CardService {
            parts,
            settings: Arc::new(settings),
            locks: Arc::default(),
            seen: Arc::default(),
        }
    }
}
