//! Fetches from Stripe what it says about a payment.

use card_payments::{
    EarlyFraudWarning, FACTS_ITEMS_MAX, FactsFault, PAGE_ITEMS_MAX, PaymentFacts, PaymentIntent,
    StripeCall, StripeDispute, StripeError, StripeFault, StripeId, StripeList, StripeRefund,
};
use thiserror::Error;

use crate::ports::StripeUnreached;
use crate::service::CardService;

/// The most pages of a list.
const PAGES_MAX: usize = FACTS_ITEMS_MAX / PAGE_ITEMS_MAX + 1;

/// The reason why Stripe's answers could not be used. Nothing follows from them then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StripeSetback {
    #[error(transparent)]
    Unreached(#[from] StripeUnreached),
    #[error("Stripe answered with HTTP {status}: {message}")]
    Refused { status: u16, message: String },
    #[error(transparent)]
    Unreadable(#[from] StripeFault),
    #[error(transparent)]
    Facts(#[from] FactsFault),
}

/// Reads one page of a list.
type PageReader<T> = fn(&[u8]) -> Result<StripeList<T>, StripeFault>;

impl CardService {
    /// Fetches an object. None if Stripe does not know it.
    pub(crate) async fn fetch<T>(
        &self,
        call: &StripeCall,
        parse: fn(&[u8]) -> Result<T, StripeFault>,
    ) -> Result<Option<T>, StripeSetback> {
        let answer = self.parts.stripe.send(call).await?;
        match answer.status {
            200 => Ok(Some(parse(&answer.body)?)),
            404 => Ok(None),
            status => {
                let message = StripeError::parse(&answer.body).message;
                Err(StripeSetback::Refused { status, message })
            }
        }
    }

    /// Fetches a payment's refunds, disputes and warnings. The payment was fetched before them.
    pub(crate) async fn fetch_facts(
        &self,
        intent: PaymentIntent,
    ) -> Result<PaymentFacts, StripeSetback> {
        let id = intent.id.clone();
        let refunds = self
            .fetch_pages(
                |after| StripeCall::list_refunds(&id, after),
                StripeList::parse_refunds,
                |item: &StripeRefund| &item.id,
            )
            .await?;
        let disputes = self
            .fetch_pages(
                |after| StripeCall::list_disputes(&id, after),
                StripeList::parse_disputes,
                |item: &StripeDispute| &item.id,
            )
            .await?;
        let warnings = self
            .fetch_pages(
                |after| StripeCall::list_warnings(&id, after),
                StripeList::parse_warnings,
                |item: &EarlyFraudWarning| &item.id,
            )
            .await?;
        Ok(PaymentFacts::new(intent, refunds, disputes, warnings)?)
    }

    /// Fetches all pages of a list. Fails if it is longer than any payment's.
    pub(crate) async fn fetch_pages<T>(
        &self,
        call: impl Fn(Option<&StripeId>) -> StripeCall,
        parse: PageReader<T>,
        id: fn(&T) -> &StripeId,
    ) -> Result<StripeList<T>, StripeSetback> {
        let mut list: StripeList<T> = StripeList::empty();
        for _ in 0..PAGES_MAX {
            let asked = call(list.items.last().map(id));
            let answer = self.parts.stripe.send(&asked).await?;
            if answer.status != 200 {
                let message = StripeError::parse(&answer.body).message;
                return Err(StripeSetback::Refused { status: answer.status, message });
            }
            list.append_page(parse(&answer.body)?);
            if !list.has_more {
                return Ok(list);
            }
        }
        Err(FactsFault::TooMany.into())
    }
}
