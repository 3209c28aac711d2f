//! Performing an operation: through the socket of the running service, or on the database itself.

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

/// How often the outcome of a command is asked for after its answer was lost.
const OUTCOME_ASKED_MAX: usize = 3;
const OUTCOME_PAUSE: Duration = Duration::from_secs(1);

/// Somebody at the command line. Whether the service runs makes no difference to what they see.
pub(crate) struct Operator<'a> {
    pub(crate) surroundings: &'a Surroundings,
    pub(crate) engine: Engine,
    way: ServiceAccess,
}

enum ServiceAccess {
    Running(Client),
    /// Nothing runs, and the database is not needed yet.
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

    /// Performs an operation that moves money and names its entry. After a lost answer it is sent
    /// again under the same name, which counts once and tells the outcome. `again` is the command
    /// that does the same, for the case that nothing answers.
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

    /// Finds the service anew: it may have ended, or have been started, since.
    async fn reconnect(&mut self) -> Result<(), Failure> {
        if let ServiceAccess::Opened(_) = self.way {
            return Ok(());
        }
        self.way = Operator::connect(self.surroundings, self.engine).await?.way;
        Ok(())
    }

    /// For what only makes sense while the service runs.
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

    /// The catalogue of the running service, or else of the configuration. It needs no database.
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

    /// What recomputing the ledger finds, even in one that is too damaged to be opened.
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

/// The same operation, marked as a repeat where its name alone does not say so.
fn repeated(operation: Operation) -> Operation {
    match operation {
        Operation::RefundCharge { charge, amount, reason, .. } => {
            Operation::RefundCharge { charge, amount, reason, is_repeat: true }
        }
        other => other,
    }
}

/// A text as one word of a shell's command line.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A reply of another kind than was asked for.
pub(crate) fn unexpected() -> Failure {
    Failure::Unreachable("the service gave a strange answer; is it of another version?".to_owned())
}
