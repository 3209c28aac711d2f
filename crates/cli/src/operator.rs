//! Performs operations: through the socket of the running service, or directly on the database.

use std::sync::Arc;
use std::time::Duration;

use config::sections::store::Store as StoreSection;
use control::actor::Actor;
use control::books;
use control::operation::Operation;
use control::reply::{ModelLine, Reply, Verification};
use control::service::Service;
use control::socket;
use control::socket::client::Client;
use domain::catalogue::Model;
use tokio::time::sleep;

use crate::database::{self, Database, Opener};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::local::{self, Local};
use crate::output::print_note;
use crate::surroundings::Surroundings;
use crate::wiring;

/// The maximum number of retries to learn the outcome of a command after its response was lost.
const OUTCOME_ASKED_MAX: usize = 3;
const OUTCOME_PAUSE: Duration = Duration::from_secs(1);

/// Executes commands the same way whether or not the service runs.
pub(crate) struct Operator<'a> {
    pub(crate) surroundings: &'a Surroundings,
    pub(crate) engine: Engine,
    way: ServiceAccess,
}

enum ServiceAccess {
    Running(Client),
    /// No service runs, and the database is not open yet.
    Stopped,
    Opened(Box<Service>),
}

impl<'a> Operator<'a> {
    pub(crate) async fn connect(
        surroundings: &'a Surroundings,
        engine: Engine,
    ) -> Result<Operator<'a>, Failure> {
        let path = socket::path(&surroundings.data_dir.path);
        let client = Client::connect(&path).await.map_err(|error| {
            Failure::Unreachable(format!(
                "cannot reach the service through {}: {error}; are you the user it runs as?",
                path.display()
            ))
        })?;
        let way = client.map_or(ServiceAccess::Stopped, ServiceAccess::Running);
        Ok(Operator { surroundings, engine, way })
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.way, ServiceAccess::Running(_))
    }

    pub(crate) async fn perform(&mut self, operation: Operation) -> Result<Reply, Failure> {
        if let ServiceAccess::Stopped = self.way {
            self.way = ServiceAccess::Opened(Box::new(self.open().await?));
        }
        match &mut self.way {
            ServiceAccess::Running(client) => Ok(client.perform(&operation).await?),
            ServiceAccess::Opened(service) => {
                Ok(service.perform(&Actor::of_this_process(), operation).await?)
            }
            ServiceAccess::Stopped => unreachable!("the database was opened above"),
        }
    }

    /// Performs a money transfer that has an entry id. After a lost response it is sent again with
    /// the same id, which applies it at most once and returns the outcome. `again` is the
    /// equivalent command, shown if there is no response.
    pub(crate) async fn move_money(
        &mut self,
        operation: Operation,
        again: &str,
    ) -> Result<Reply, Failure> {
        let mut lost = match self.perform(operation.clone()).await {
            Err(Failure::Lost(cause)) => cause,
            performed => return performed,
        };
        let operation = repeated(operation);
        for _ in 0..OUTCOME_ASKED_MAX {
            print_note(&format!("the answer was lost ({lost}); asking for the outcome"));
            sleep(OUTCOME_PAUSE).await;
            let asked = match self.reconnect().await {
                Ok(()) => self.perform(operation.clone()).await,
                Err(failure) => Err(failure),
            };
            match asked {
                Err(Failure::Lost(cause) | Failure::Unreachable(cause)) => lost = cause,
                performed => return performed,
            }
        }
        Err(Failure::Unreachable(format!(
            "it is not known whether this was done: {lost}. This command finds out, and moves money \
             at most once:\n  {again}"
        )))
    }

    /// Reconnects, because the service may have stopped or started since.
    async fn reconnect(&mut self) -> Result<(), Failure> {
        if let ServiceAccess::Opened(_) = self.way {
            return Ok(());
        }
        self.way = Operator::connect(self.surroundings, self.engine).await?.way;
        Ok(())
    }

    /// Performs an operation that requires a running service.
    pub(crate) async fn perform_running(&mut self, operation: Operation) -> Result<Reply, Failure> {
        if !self.is_running() {
            let data_dir = self.surroundings.data_dir.path.display();
            return Err(Failure::Unreachable(format!(
                "no service runs on {data_dir}; start it with `tollgate serve`, or name its \
                 directory with --data-dir"
            )));
        }
        self.perform(operation).await
    }

    /// Returns the catalogue of the running service, or else of the configuration. Needs no
    /// database.
    pub(crate) async fn models(&mut self) -> Result<Vec<ModelLine>, Failure> {
        if !self.is_running() {
            let config = self.surroundings.sources(Vec::new()).read()?;
            let local = Local::of(self.engine, self.surroundings, (&config.engine, &config.log))?;
            let models = local::models(config.models, local.as_ref()).map_err(Failure::Failed)?;
            let weights_of = |model: &Model| local.as_ref().and_then(|it| it.weights_of(model));
            let line = |model: &Model| ModelLine::of(model, weights_of(model));
            return Ok(models.iter().map(line).collect());
        }
        match self.perform(Operation::ListModels).await? {
            Reply::Models(models) => Ok(models),
            _ => Err(unexpected()),
        }
    }

    /// Verifies the ledger, even if it is too damaged to be opened.
    pub(crate) async fn verify(&mut self) -> Result<Verification, Failure> {
        if let ServiceAccess::Stopped = self.way {
            let ground = self.surroundings.sources(Vec::new()).read_ground()?;
            let store = self.open_database(&ground.store).await?.store;
            return Ok(books::verify(store.as_ref()).await?);
        }
        match self.perform(Operation::VerifyLedger).await? {
            Reply::Verified(verification) => Ok(verification),
            _ => Err(unexpected()),
        }
    }

    async fn open(&self) -> Result<Service, Failure> {
        let ground = self.surroundings.sources(Vec::new()).read_ground()?;
        let database = self.open_database(&ground.store).await?;
        let service = wiring::stopped_service(database, Arc::new(ground.tiers)).await?;
        let development = &ground.development;
        service.found(development.enabled.then_some(development.starting_credit)).await?;
        service.found_characters().await?;
        Ok(service)
    }

    async fn open_database(&self, section: &StoreSection) -> Result<Database, Failure> {
        database::open(&self.surroundings.data_dir.path, section, Opener::Command).await
    }
}

/// Marks an operation as a repeat if its id alone does not identify it.
fn repeated(operation: Operation) -> Operation {
    match operation {
        Operation::RefundCharge { charge, amount, reason, .. } => {
            Operation::RefundCharge { charge, amount, reason, is_repeat: true }
        }
        other => other,
    }
}

/// Quotes a text for a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The error for a reply of an unexpected type.
pub(crate) fn unexpected() -> Failure {
    Failure::Unreachable("the service gave a strange answer; is it of another version?".to_owned())
}
