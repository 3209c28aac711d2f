//! Solana transactions for browser wallets, which can sign but not compose.

use std::time::Duration;

use thiserror::Error;
use wallet::solana::{SolanaFault, unsigned_payment};
use wallet::{SolanaAddress, TokenAmount};

use crate::payments::{Blockhash, Payments};
use crate::settler::Setback;

/// However many ask, the node is asked once in this time. Transactions live for a minute.
const BLOCKHASH_AGE_MAX: Duration = Duration::from_secs(2);

/// Why there is nothing to sign.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoTransaction {
    #[error("Payments on Solana are not taken")]
    NotTaken,
    /// What would be signed would be refused.
    #[error(transparent)]
    Fault(#[from] SolanaFault),
    #[error(transparent)]
    Setback(#[from] Setback),
}

impl Payments {
    /// A payment that becomes one as soon as `payer` has signed it. `memo` makes it unlike any
    /// other.
    pub async fn unsigned_on_solana(
        &self,
        payer: SolanaAddress,
        amount: TokenAmount,
        memo: &str,
    ) -> Result<Vec<u8>, NoTransaction> {
        let terms = &self.desk.terms;
        if terms.solana.is_none() {
            return Err(NoTransaction::NotTaken);
        }
        // What cannot be paid is said before the node is asked anything.
        unsigned_payment(terms, payer, amount, [0; 32], memo)?;
        let hash = self.recent_blockhash().await?;
        Ok(unsigned_payment(terms, payer, amount, hash, memo)?)
    }

    async fn recent_blockhash(&self) -> Result<[u8; 32], NoTransaction> {
        let mut known = self.blockhash.lock().await;
        let now = self.desk.clock.now();
        match *known {
            Some(Blockhash { asked, hash }) if now < asked.plus(BLOCKHASH_AGE_MAX) => Ok(hash),
            _ => {
                let hash = self.desk.settler.recent_blockhash().await?;
                let hash = hash.ok_or(NoTransaction::NotTaken)?;
                *known = Some(Blockhash { asked: now, hash });
                Ok(hash)
            }
        }
    }
}
