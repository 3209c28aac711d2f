//! What several nodes count together, in Redis 7 or Valkey: the requests of strangers, who
//! have no home, and which addresses are blocked.
//!
//! Nothing here is ever waited for long: an answer that does not come in time, or a server that is
//! away, is no answer, and the node counts by itself. A task connects anew meanwhile.

mod blocks;

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::limits::shares::{Added, SharedCounts};
use metrics::{counter, gauge};
use moment::Timestamp;
use redis::aio::MultiplexedConnection;
use redis::{Client, RedisError};
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

pub use blocks::Heard;

/// How long a request waits for a count. A server in the same machine room answers in less than
/// one.
const ANSWER_MAX: Duration = Duration::from_millis(20);
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// So many answers in a row that do not come in time mean that the server is away.
const LATE_MAX: u32 = 3;
/// How often the server is asked whether it is there, and how long the answer may take.
const PING_EVERY: Duration = Duration::from_secs(5);
const PING_MAX: Duration = Duration::from_secs(2);
/// How long nobody asks a server that is away.
const PAUSE: Duration = Duration::from_millis(500);
/// A window of a minute, and as much again for clocks that differ.
const KEPT: Duration = Duration::from_secs(120);
/// Blocks that wait to be sent. Each is sent within milliseconds.
const BLOCKS_WAITING_MAX: usize = 1024;

const PREFIX: &str = "tollgate:limits:";

pub struct RedisCounts {
    client: Client,
    connection: Mutex<Option<MultiplexedConnection>>,
    lost: Notify,
    /// Answers in a row that did not come in time.
    late: AtomicU32,
    nodes: AtomicU64,
    blocks: mpsc::Sender<blocks::Block>,
    to_tell: tokio::sync::Mutex<mpsc::Receiver<blocks::Block>>,
}

impl RedisCounts {
    /// `redis://` or `rediss://`, with user, password and number of the database. Nothing is
    /// connected yet. The error does not tell the URL, which may hold a password.
    pub fn new(url: &str) -> Result<RedisCounts, String> {
        let client = Client::open(url);
        let client =
            client.map_err(|error| format!("`url` in [limits] cannot be used: {error}"))?;
        let (blocks, to_tell) = mpsc::channel(BLOCKS_WAITING_MAX);
        Ok(RedisCounts {
            client,
            connection: Mutex::default(),
            lost: Notify::new(),
            late: AtomicU32::new(0),
            nodes: AtomicU64::new(1),
            blocks,
            to_tell: tokio::sync::Mutex::new(to_tell),
        })
    }

    /// Notes among how many nodes a limit is divided while the server is away.
    pub fn set_nodes(&self, nodes: u64) {
        self.nodes.store(nodes.max(1), Ordering::Relaxed);
    }

    /// Whether the server answers; the error says why it does not.
    pub async fn check(&self) -> Result<(), String> {
        let mut connection = self.connect().await?;
        let pinged = timeout(CONNECT_MAX, redis::cmd("PING").exec_async(&mut connection)).await;
        match pinged {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("it does not answer".to_owned()),
        }
    }

    /// Keeps the connection, tells blocks and hears of those of other nodes, until `stop`.
    pub async fn run(&self, heard: &Heard, stop: CancellationToken) {
        let mut to_tell = self.to_tell.lock().await;
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.keep_connected() => {}
            () = self.tell(&mut to_tell) => {}
            () = self.hear(heard) => {}
        }
    }

    async fn keep_connected(&self) {
        let mut is_told = false;
        loop {
            match self.connect().await {
                Ok(connection) => {
                    *self.lock(&self.connection) = Some(connection);
                    gauge!("limits_shared").set(1.0);
                    tracing::info!("limits are counted together with other nodes");
                    is_told = false;
                    self.until_lost().await;
                    sleep(PAUSE).await;
                }
                Err(cause) => {
                    gauge!("limits_shared").set(0.0);
                    if !is_told {
                        is_told = true;
                        tracing::warn!(
                            "the server in [limits] is not reached: {cause}; callers without a \
                             credential are counted by this node alone, within their limit divided \
                             by the number of nodes"
                        );
                    }
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Ends when the connection is lost. It is noticed where nobody asks for a count, too.
    async fn until_lost(&self) {
        loop {
            tokio::select! {
                () = self.lost.notified() => return,
                () = sleep(PING_EVERY) => {}
            }
            let Some(mut connection) = self.lock(&self.connection).clone() else { continue };
            let pinged = timeout(PING_MAX, redis::cmd("PING").exec_async(&mut connection)).await;
            match pinged {
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.lose(&error.to_string()),
                Err(_) => self.lose(&format!("no answer within {} s", PING_MAX.as_secs())),
            }
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, String> {
        match timeout(CONNECT_MAX, self.client.get_multiplexed_async_connection()).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {} s", CONNECT_MAX.as_secs())),
        }
    }

    /// Runs a pipeline on the connection, if there is one. After a failure, or several answers that
    /// were late, there is none for a while.
    async fn ask<T: redis::FromRedisValue>(&self, pipe: &redis::Pipeline) -> Option<T> {
        let mut connection = self.lock(&self.connection).clone()?;
        let cause = match timeout(ANSWER_MAX, pipe.query_async(&mut connection)).await {
            Ok(Ok(answer)) => {
                self.late.store(0, Ordering::Relaxed);
                return Some(answer);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) if self.late.fetch_add(1, Ordering::Relaxed) + 1 < LATE_MAX => return None,
            Err(_) => format!("no answer within {} ms, {LATE_MAX} times", ANSWER_MAX.as_millis()),
        };
        self.lose(&cause);
        None
    }

    fn lose(&self, cause: &str) {
        if self.lock(&self.connection).take().is_some() {
            self.late.store(0, Ordering::Relaxed);
            gauge!("limits_shared").set(0.0);
            tracing::warn!("limits are counted by this node alone for now: {cause}");
            self.lost.notify_one();
        }
    }

    fn lock<'a, T>(&self, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedCounts for RedisCounts {
    fn add<'a>(
        &'a self,
        name: &'a str,
        many: u64,
    ) -> Pin<Box<dyn Future<Output = Added> + Send + 'a>> {
        Box::pin(async move {
            let key = format!("{PREFIX}{name}");
            let kept_ms = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
            let mut pipe = redis::pipe();
            pipe.incr(&key, many).pexpire(&key, kept_ms).ignore();
            let answer: Option<(u64,)> = self.ask(&pipe).await;
            if answer.is_none() {
                counter!("limits_unshared_total").increment(1);
            }
            answer.map(|(total,)| total)
        })
    }

    fn tell_blocked(&self, address: IpAddr, until: Timestamp) {
        // Where too many wait, this node alone blocks it.
        let _ = self.blocks.try_send(blocks::Block { address, until });
    }

    fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }
}

/// The words of an error, for the log.
fn words(error: RedisError) -> String {
    error.to_string()
}
