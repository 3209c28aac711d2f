//! Receives a webhook: what it says to look at is stored, and nothing else of it is believed.

use card_payments::{StripeEvent, StripeFault, WebhookRefusal, verify_webhook};
use thiserror::Error;

use crate::ports::CardStoreFault;
use crate::rows::{CardWrite, LookTarget};
use crate::service::CardService;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WebhookFault {
    #[error(transparent)]
    Refused(#[from] WebhookRefusal),
    #[error(transparent)]
    Malformed(#[from] StripeFault),
    #[error("The event is of the other mode than this service's key")]
    OtherMode,
    /// Stripe delivers it again.
    #[error("The event could not be stored: {0}")]
    Unavailable(#[from] CardStoreFault),
}

impl CardService {
    /// Verifies a delivery and stores what to look at. Acknowledge it when this returns, and then
    /// call [`CardService::look_at_noted`]. None if the event is about nothing of ours.
    pub async fn receive_webhook(
        &self,
        signature: &str,
        body: &[u8],
    ) -> Result<Option<LookTarget>, WebhookFault> {
        let now = self.parts.clock.now();
        verify_webhook(&self.settings.webhook_secret, signature, body, now)?;
        let event = StripeEvent::parse(body)?;
        if event.mode != self.settings.mode {
            return Err(WebhookFault::OtherMode);
        }
        let Some(target) = LookTarget::of_event(event.target) else { return Ok(None) };
        self.parts.store.commit(vec![CardWrite::NoteLook(target.clone())]).await?;
        Ok(Some(target))
    }
}
