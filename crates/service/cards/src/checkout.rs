//! Creates an order and its payment page.

use card_payments::{
    CardOrderId, CheckoutOrder, CheckoutSession, PaymentBooks, ReturnUrl, ReturnUrlFault,
    StripeCall, StripeError, UsdCents, find_session_mismatch,
};
use ledger_core::OwnerId;
use thiserror::Error;
use uuid::Uuid;

use crate::look::LookFault;
use crate::ports::CardStoreFault;
use crate::rows::{CardOrderRow, CardOrderState, CardWrite};
use crate::service::CardService;

/// A request for a payment page.
#[derive(Debug, Clone)]
pub struct CheckoutRequest<'a> {
    /// A fresh id.
    pub order: Uuid,
    pub owner: OwnerId,
    pub amount: UsdCents,
    /// The page to return to, on our own origin. Default: the service's own address.
    pub return_url: Option<&'a str>,
    /// Fills in the address of the payer.
    pub email: Option<&'a str>,
}

/// The page on which an order is paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutPage {
    pub order: CardOrderId,
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CheckoutRefusal {
    #[error("The amount must be from {least} to {most} dollars")]
    Amount { least: UsdCents, most: UsdCents },
    #[error("{0}")]
    ReturnUrl(#[from] ReturnUrlFault),
    /// Stripe refused the request: a setting of the operator's is wrong.
    #[error("The payment page could not be created")]
    Declined,
    #[error("The payment page could not be created now: try again")]
    Unavailable,
}

impl CardService {
    /// Stores an order, then asks Stripe for its page. An order whose answer is lost stays without a
    /// page; it cannot be paid, because the URL of its page reached no payer.
    pub async fn create_checkout(
        &self,
        request: &CheckoutRequest<'_>,
    ) -> Result<CheckoutPage, CheckoutRefusal> {
        let settings = &self.settings;
        let (least, most) = (settings.least, settings.most);
        if !(least..=most).contains(&request.amount) {
            return Err(CheckoutRefusal::Amount { least, most });
        }
        let public_url = &settings.public_url;
        let return_url = ReturnUrl::parse(public_url, request.return_url.unwrap_or(public_url))?;
        let row = CardOrderRow {
            id: CardOrderId(request.order),
            owner: request.owner,
            amount: request.amount,
            mode: settings.mode,
            created: self.parts.clock.now(),
            session: None,
            intent: None,
            state: CardOrderState::Awaiting,
            books: PaymentBooks::default(),
        };
        self.commit_checkout(CardWrite::AddOrder(row.clone())).await?;
        let call = StripeCall::create_checkout(&CheckoutOrder {
            order: row.id,
            amount: row.amount,
            product: &settings.product,
            success_url: &return_url,
            cancel_url: &return_url,
            customer: None,
            email: request.email,
            options: settings.options,
        });
        let session = self.open_session(&row, &call).await?;
        let url = session.url.ok_or(CheckoutRefusal::Unavailable)?;
        let note = CardWrite::NoteSession { order: row.id, session: session.id };
        self.commit_checkout(note).await?;
        Ok(CheckoutPage { order: row.id, url })
    }

    async fn open_session(
        &self,
        row: &CardOrderRow,
        call: &StripeCall,
    ) -> Result<CheckoutSession, CheckoutRefusal> {
        let answer = self.parts.stripe.send(call).await.map_err(|unreached| {
            tracing::warn!(order = %row.id, "a payment page could not be created: {unreached}");
            CheckoutRefusal::Unavailable
        })?;
        if answer.status != 200 {
            let StripeError { kind, code, message, .. } = StripeError::parse(&answer.body);
            tracing::error!(
                order = %row.id, status = answer.status, kind, code, message,
                "Stripe refused a payment page: {message}"
            );
            let is_ours = (400..500).contains(&answer.status) && answer.status != 429;
            return Err(if is_ours {
                CheckoutRefusal::Declined
            } else {
                CheckoutRefusal::Unavailable
            });
        }
        let session = CheckoutSession::parse(&answer.body).map_err(|fault| {
            tracing::error!(order = %row.id, "a payment page is not usable: {fault}");
            CheckoutRefusal::Unavailable
        })?;
        match find_session_mismatch(&row.to_order(), &session) {
            None => Ok(session),
            Some(mismatch) => {
                tracing::error!(order = %row.id, "a payment page does not fit: {mismatch}");
                Err(CheckoutRefusal::Unavailable)
            }
        }
    }

    async fn commit_checkout(&self, write: CardWrite) -> Result<(), CheckoutRefusal> {
        self.parts.store.commit(vec![write]).await.map_err(|fault: CardStoreFault| {
            tracing::error!("an order could not be stored: {fault}");
            CheckoutRefusal::Unavailable
        })
    }

    /// Looks at the payment of an order: its payer has returned, or the operator asks.
    pub async fn look_at_order(&self, order: CardOrderId) -> Result<(), LookFault> {
        let Some(row) = self.parts.store.find_order(order).await? else { return Ok(()) };
        match (row.intent, row.session) {
            (Some(intent), _) => self.look_at_intent(&intent).await,
            (None, Some(session)) => self.look_at_session(&session).await,
            (None, None) => Ok(()),
        }
    }
}
