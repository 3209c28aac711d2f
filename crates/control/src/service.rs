//! The operator's view of a service: the state that operations read and change.

use std::sync::{Arc, OnceLock};

use access::KeyRing;
use domain::catalogue::{Model, Selection};
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::Entropy;
use domain::limits::tiers::Tiers;
use ledger::Ledger;
use moment::{Clock, Timestamp};
use store::Store;
use store::error::StoreError;
use store::job::JobId;

use crate::actor::Actor;
use crate::books::verify;
use crate::debits::Debit;
use crate::elsewhere::Elsewhere;
use crate::operation::{Operation, OperationError};
use crate::payments::PaymentDesk;
use crate::refunds::RefundOrder;
use crate::reply::{JobProgress, ModelLine, Reloaded, Reply, Status};

/// Reads the catalogue's files again and makes the new catalogue current. Returns the number of
/// models; on an error the old catalogue stays.
pub type Reload = Arc<dyn Fn() -> Result<usize, String> + Send + Sync>;

pub struct Service {
    pub store: Arc<dyn Store>,
    pub ledger: Arc<Ledger>,
    pub keys: Arc<KeyRing>,
    pub catalogue: Arc<CurrentCatalogue>,
    /// The rate-limit tiers that an account may have.
    pub tiers: Arc<Tiers>,
    pub reload: Reload,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub started_at: Timestamp,
    /// The API's base URL on this machine; `None` while the service is stopped.
    pub api_url: Option<String>,
    /// Returns the download state of a local model's files.
    pub weights: WeightsOf,
    /// Set once payments are accepted; empty while the service is stopped.
    pub payments: OnceLock<Arc<dyn PaymentDesk>>,
    /// Set if this process runs jobs.
    pub progress_of: OnceLock<ProgressOf>,
    /// Set if there are other nodes.
    pub elsewhere: OnceLock<Arc<dyn Elsewhere>>,
}

/// Returns `ready` or the progress of the download; `None` for a model that runs elsewhere.
pub type WeightsOf = Arc<dyn Fn(&Model) -> Option<String> + Send + Sync>;

/// Returns a job's progress; `None` if this node does not process it or its provider reports none.
pub type ProgressOf = Arc<dyn Fn(JobId) -> Option<JobProgress> + Send + Sync>;

impl Service {
    pub(crate) async fn perform_here(
        &self,
        by: &Actor,
        operation: Operation,
    ) -> Result<Reply, OperationError> {
        match operation {
            Operation::Ping => Ok(Reply::Status(self.status())),
            Operation::CreateAccount { name } => {
                self.create_account(&name).await.map(Reply::Account)
            }
            Operation::SetTier { name, tier } => {
                self.set_tier(&name, &tier).await.map(Reply::Account)
            }
            Operation::ListAccounts => self.list_accounts().await.map(Reply::Accounts),
            Operation::ShowAccount { name } => self.show_account(&name).await.map(Reply::Account),
            Operation::CreditAccount { entry, name, amount, currency } => {
                let credited = self.credit_account(by, (entry, &name), &amount, currency).await;
                credited.map(Reply::Account)
            }
            Operation::LinkWallet { name, wallet } => {
                self.link_wallet(by, &name, &wallet).await.map(Reply::Account)
            }
            Operation::UnlinkWallet { name, wallet } => {
                self.unlink_wallet(by, &name, &wallet).await.map(Reply::Account)
            }
            Operation::FreezeAccount { name } => {
                self.freeze(by, &name, Some(self.clock.now())).await.map(Reply::Account)
            }
            Operation::UnfreezeAccount { name } => {
                self.freeze(by, &name, None).await.map(Reply::Account)
            }
            Operation::CreateKey(new) => self.create_key(new).await.map(Reply::CreatedKey),
            Operation::ListKeys { account } => {
                self.list_keys(account.as_deref()).await.map(Reply::Keys)
            }
            Operation::CreateOperatorKey(new) => {
                self.create_operator_key(by, new).await.map(Reply::CreatedKey)
            }
            Operation::ListOperatorKeys => self.list_operator_keys().await.map(Reply::Keys),
            Operation::CreateOperatorLink => {
                self.create_operator_link(by).await.map(Reply::OperatorLink)
            }
            Operation::RevokeKey { id } => self.revoke_key(id).await.map(Reply::RevokedKey),
            Operation::RevokeAllKeys { account } => {
                self.revoke_all_keys(account.as_deref()).await.map(Reply::Keys)
            }
            Operation::RotateSecret { name } => {
                self.rotate_secret(name).await.map(|()| Reply::Done)
            }
            Operation::ForgetPepper => self.forget_pepper().await.map(|()| Reply::Done),
            Operation::ListModels => Ok(Reply::Models(self.models())),
            Operation::ReloadModels => self.reload_models().await.map(Reply::Reloaded),
            Operation::ListJobs { account, open_only } => {
                self.list_jobs(account.as_deref(), open_only).await.map(Reply::Jobs)
            }
            Operation::ShowJob { id } => self.show_job(id).await.map(Reply::Job),
            Operation::CancelJob { id } => self.cancel_job(id).await.map(Reply::Job),
            Operation::ImportCharacter { file } => {
                self.import_character(&file).await.map(|it| Reply::Characters(vec![it]))
            }
            Operation::ExportCharacter { slug } => {
                self.export_character(&slug).await.map(Reply::Card)
            }
            Operation::ListCharacters => self.list_characters().await.map(Reply::Characters),
            Operation::VerifyLedger => verify(self.store.as_ref()).await.map(Reply::Verified),
            Operation::ExportLedger { after_seq, format } => {
                self.export_ledger(after_seq, format).await.map(Reply::Journal)
            }
            operation => self.perform_on_money(by, operation).await,
        }
    }

    /// Performs operations on charges, payments and the ledger as a whole.
    async fn perform_on_money(
        &self,
        by: &Actor,
        operation: Operation,
    ) -> Result<Reply, OperationError> {
        match operation {
            Operation::DebitAccount { entry, name, amount, currency, reason } => {
                let debit = Debit { entry, name, amount, currency, reason };
                self.debit_account(by, debit).await.map(Reply::Account)
            }
            Operation::RefundCharge { charge, amount, reason, is_repeat } => {
                let refund = RefundOrder { charge, amount, reason, is_repeat };
                self.refund_charge(by, refund).await.map(Reply::Refunded)
            }
            Operation::MendTime { reason } => {
                self.mend_time(by, &reason).await.map(Reply::TimeMended)
            }
            Operation::AuditLedger { after_seq } => {
                self.audit_trail(after_seq).await.map(Reply::Audit)
            }
            Operation::ListPayments { state, limit } => {
                self.list_payments(state.as_deref(), limit).await.map(Reply::Payments)
            }
            Operation::ShowPayment { id } => self.show_payment(&id).await.map(Reply::Payment),
            Operation::RecheckPayment { id } => {
                self.recheck_payment(by, &id).await.map(Reply::Payment)
            }
            Operation::WriteOffPayment { id, reason } => {
                self.write_off_payment(by, &id, &reason).await.map(Reply::Payment)
            }
            Operation::Backup { path } => self.back_up(by, &path).await.map(Reply::BackedUp),
            other => Err(OperationError::Failed(format!("nobody carries out {other:?}"))),
        }
    }

    fn status(&self) -> Status {
        let ledger = self.ledger.status();
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            started_at: self.started_at.to_string(),
            can_write: ledger.is_running,
            journal_ahead_s: ledger.journal_ahead.map(|ahead| ahead.as_secs()),
            api_url: self.api_url.clone(),
        }
    }

    fn models(&self) -> Vec<ModelLine> {
        let catalogue = self.catalogue.get();
        let now = self.clock.now();
        let models = catalogue.list(Selection::All, now);
        models.map(|model| ModelLine::of(model, (self.weights)(model))).collect()
    }

    async fn reload_models(&self) -> Result<Reloaded, OperationError> {
        let reload = Arc::clone(&self.reload);
        // Reading files can be slow on a slow disk; requests must not wait for it.
        let reloaded = tokio::task::spawn_blocking(move || reload()).await;
        let reloaded = reloaded.map_err(|error| OperationError::Failed(error.to_string()))?;
        let models = reloaded.map_err(OperationError::Refused)?;
        Ok(Reloaded { models })
    }
}

impl From<StoreError> for OperationError {
    fn from(error: StoreError) -> OperationError {
        OperationError::Failed(error.to_string())
    }
}
