//! Solana transactions for browser wallets, which can sign but not build them.

use std::time::Duration;

use thiserror::Error;
use wallet::solana::{SolanaFault, unsigned_payment};
use wallet::{SolanaAddress, TokenAmount};

use crate::payments::{PaymentService, RecentBlockhash};
use crate::settler::SettleFailure;

/// Time for which a blockhash is cached, so that the node is asked only once in it. Transactions
/// are valid for a minute.
const BLOCKHASH_AGE_MAX: Duration = Duration::from_secs(2);

/// The reason why there is no transaction to sign.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnsignedPaymentFault {
    #[error("Payments on Solana are not taken")]
    NotTaken,
    /// The transaction would be refused even if signed.
    #[error(transparent)]
    Fault(#[from] SolanaFault),
    #[error(transparent)]
    Setback(#[from] SettleFailure),
}

impl PaymentService {
    /// Builds a transaction that `payer` only has to sign to pay. `memo` makes it unique.
    pub async fn unsigned_on_solana(
        &self,
        payer: SolanaAddress,
        amount: TokenAmount,
        memo: &str,
    ) -> Result<Vec<u8>, UnsignedPaymentFault> {
        let terms = &self.desk.terms;
        if terms.solana.is_none() {
            return Err(UnsignedPaymentFault::NotTaken);
        }
        // Invalid payments are refused before the node is asked.
        unsigned_payment(terms, payer, amount, [0; 32], memo)?;
        let hash = self.recent_blockhash().await?;
        Ok(unsigned_payment(terms, payer, amount, hash, memo)?)
    }

    async fn recent_blockhash(&self) -> Result<[u8; 32], UnsignedPaymentFault> {
        let mut known = self.blockhash.lock().await;
        let now = self.desk.clock.now();
        match *known {
            Some(RecentBlockhash { asked, hash }) if now < asked.plus(BLOCKHASH_AGE_MAX) => {
                Ok(hash)
            }
            _ => {
                let hash = self.desk.settler.recent_blockhash().await?;
                let hash = hash.ok_or(UnsignedPaymentFault::NotTaken)?;
                *known = Some(RecentBlockhash { asked: now, hash });
                Ok(hash)
            }
        }
    }
}
