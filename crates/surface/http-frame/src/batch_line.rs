//! Terms of a line of a batch: reduced prices, and a charge that is written with the line's result.
//!
//! The endpoint serves the line as any call. When it pays, the charge is decided but not written: it
//! waits here until the reply is known, and is written in the transaction of the result. So a line
//! that was charged has its result, and one that has none was not charged.

use std::sync::{Mutex, PoisonError};

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use batches::{LineReply, PendingCharge};
use bytes::Bytes;
use ledger::{HoldRefused, LedgerError, RequestHold, WorkCharge};
use ledger_core::{ChargeReceipt, HoldRange};
use moment::Timestamp;
use money::{BalanceCurrency, CurrencyFunds, Nano, PriceFactor};
use std::time::Duration;
use store::batch::BatchCost;

use crate::app::AppState;
use crate::refusal::Refusal;
use crate::refusal::openai_error::ResponseShape;
use crate::request_id::RequestId;

/// Bytes of a reply that a result may have. It is in memory several times.
const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The terms of one try of a line.
#[derive(Debug)]
pub struct BatchLineTerms {
    factor: PriceFactor,
    pending: Mutex<Option<PendingCharge>>,
}

impl BatchLineTerms {
    pub fn new(factor: PriceFactor) -> BatchLineTerms {
        BatchLineTerms { factor, pending: Mutex::default() }
    }

    /// The amounts to hold at the reduced prices.
    pub(crate) fn scale_hold(&self, want: HoldRange) -> HoldRange {
        let scale = |cost| self.factor.scale_cost(cost);
        match want {
            HoldRange::Exactly(cost) => HoldRange::Exactly(scale(cost)),
            HoldRange::UpTo { least, most } => {
                HoldRange::UpTo { least: scale(least), most: scale(most) }
            }
            HoldRange::Share { least, most } => {
                HoldRange::Share { least: scale(least), most: scale(most) }
            }
        }
    }

    /// The cost at full prices that held money can pay for.
    pub(crate) fn unscale_funds(&self, funds: CurrencyFunds) -> CurrencyFunds {
        self.factor.unscale_funds(funds)
    }

    /// Keeps the charge, at the reduced prices, and returns the receipt that it will have. Each row
    /// of usage shows its reduced price.
    pub(crate) fn keep_charge(
        &self,
        app: &AppState,
        hold: RequestHold,
        mut charge: WorkCharge,
    ) -> Result<ChargeReceipt, LedgerError> {
        for line in &mut charge.lines {
            line.rate = self.factor.scale_rate(line.rate);
        }
        let receipt = app.ledger.preview_settle(&hold, &charge)?;
        let pending = PendingCharge { hold, charge, cost: sum_cost(&receipt) };
        let mut kept = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_some() {
            // An endpoint of batches charges once; more could not be written with one result.
            debug_assert!(false, "a line of a batch was charged twice");
            return Err(HoldRefused::Unavailable.into());
        }
        *kept = Some(pending);
        Ok(receipt)
    }

    fn take_charge(&self) -> Option<PendingCharge> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The reply to a line, in the shape of the API at its URL.
    pub async fn build_reply(
        &self,
        url: &str,
        request_id: &RequestId,
        now: Timestamp,
        response: Response,
    ) -> LineReply {
        let retry_after = read_retry_after(response.headers());
        let shape = ResponseShape::for_request(url, &HeaderMap::new(), request_id, || now);
        let response = shape.apply(response);
        let status = response.status().as_u16();
        match axum::body::to_bytes(response.into_body(), REPLY_BYTES_MAX).await {
            Ok(body) => LineReply { status, retry_after, body, charge: self.take_charge() },
            Err(_) => {
                let refusal = Refusal::body_larger_than("The reply is too large for a batch.");
                let response = shape.apply(refusal.into_response());
                let status = response.status().as_u16();
                let body = axum::body::to_bytes(response.into_body(), REPLY_BYTES_MAX).await;
                let body = body.unwrap_or_else(|_| Bytes::new());
                LineReply { status, retry_after: None, body, charge: None }
            }
        }
    }
}

fn read_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let read = |name: &str| headers.get(name)?.to_str().ok()?.parse::<u64>().ok();
    let ms = read("retry-after-ms").map(Duration::from_millis);
    ms.or_else(|| read("retry-after").map(Duration::from_secs))
}

fn sum_cost(receipt: &ChargeReceipt) -> BatchCost {
    let diem = receipt.paid(BalanceCurrency::Diem);
    let others = [BalanceCurrency::Usd, BalanceCurrency::Bundled, BalanceCurrency::Vcu];
    let usd = others.into_iter().fold(Nano::ZERO, |sum, it| sum.saturating_add(receipt.paid(it)));
    BatchCost { usd, diem }
}
