//! Webhooks: their signatures, and the way in which they are delivered.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::random::DoubleRandom;

/// An event to deliver: the bytes that are signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDelivery {
    pub event: String,
    pub body: String,
}

/// Faults of delivery. Default: each event once, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryPlan {
    pub lost_percent: u8,
    pub repeated_percent: u8,
    pub is_shuffled: bool,
}

/// The value of the header `Stripe-Signature`. The whole text of the secret is the key.
pub fn sign_webhook(secret: &str, time_s: i64, body: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return format!("t={time_s}");
    };
    mac.update(time_s.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    format!("t={time_s},v1={}", hex::encode(mac.finalize().into_bytes()))
}

impl DeliveryPlan {
    /// Loses, repeats and shuffles deliveries.
    pub fn apply(
        self,
        deliveries: Vec<WebhookDelivery>,
        random: &mut DoubleRandom,
    ) -> Vec<WebhookDelivery> {
        let mut planned = Vec::new();
        for delivery in deliveries {
            if random.chance(self.lost_percent) {
                continue;
            }
            if random.chance(self.repeated_percent) {
                planned.push(delivery.clone());
            }
            planned.push(delivery);
        }
        if self.is_shuffled {
            random.shuffle(&mut planned);
        }
        planned
    }
}
