//! Limits that several nodes share, in Redis 7 or Valkey: the request counts of callers without a
//! credential, who have no home node, and the blocked addresses.
//!
//! No request waits long for the server: if it is down or does not answer in time, the node counts
//! on its own while a background task reconnects.

mod blocks;

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::limits::shares::{SharedCounts, SharedTotal};
use metrics::{counter, gauge};
use moment::Timestamp;
use redis::aio::MultiplexedConnection;
use redis::{Client, RedisError};
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

pub use blocks::OnBlock;

/// Timeout of a count, which a request waits for. A server in the same data centre answers in less
/// than one millisecond.
const ANSWER_MAX: Duration = Duration::from_millis(20);
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// Timeouts in a row after which the server is taken to be down.
const LATE_MAX: u32 = 3;
/// Interval of the health check; `PING_MAX` is its timeout.
const PING_EVERY: Duration = Duration::from_secs(5);
const PING_MAX: Duration = Duration::from_secs(2);
/// Pause before connecting again to a server that is down.
const PAUSE: Duration = Duration::from_millis(500);
/// Time to live of a count: a window of one minute, and another for clocks that differ.
const KEPT: Duration = Duration::from_secs(120);
/// Blocks queued for sending. Each is sent within milliseconds.
const BLOCKS_WAITING_MAX: usize = 1024;

const PREFIX: &str = "tollgate:limits:";

pub struct RedisCounts {
    client: Client,
    connection: Mutex<Option<MultiplexedConnection>>,
    lost: Notify,
    /// Timeouts in a row.
    late: AtomicU32,
    nodes: AtomicU64,
    blocks: mpsc::Sender<blocks::AddressBlock>,
    to_tell: tokio::sync::Mutex<mpsc::Receiver<blocks::AddressBlock>>,
}

impl RedisCounts {
    /// Takes a `redis://` or `rediss://` URL, with user, password and database number. Does not
    /// connect yet. The error does not contain the URL, which may hold a password.
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

    /// Sets the number of nodes that a limit is divided by while the server is down.
    pub fn set_nodes(&self, nodes: u64) {
        self.nodes.store(nodes.max(1), Ordering::Relaxed);
    }

    /// Connects and sends a PING; the error says why it failed.
    pub async fn check_connection(&self) -> Result<(), String> {
        let mut connection = self.connect().await?;
        let pinged = timeout(CONNECT_MAX, redis::cmd("PING").exec_async(&mut connection)).await;
        match pinged {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("it does not answer".to_owned()),
        }
    }

    /// Keeps the connection open, publishes blocks and receives those of other nodes, until `stop`.
    pub async fn run(&self, heard: &OnBlock, stop: CancellationToken) {
        let mut to_tell = self.to_tell.lock().await;
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.keep_connected() => {}
            () = self.publish_blocks(&mut to_tell) => {}
            () = self.receive_blocks(heard) => {}
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
                    self.monitor_connection().await;
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

    /// Ends when the connection is lost. Pings, so that a loss is noticed without requests too.
    async fn monitor_connection(&self) {
        loop {
            tokio::select! {
                () = self.lost.notified() => return,
                () = sleep(PING_EVERY) => {}
            }
            let Some(mut connection) = self.lock(&self.connection).clone() else { continue };
            let pinged = timeout(PING_MAX, redis::cmd("PING").exec_async(&mut connection)).await;
            match pinged {
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.drop_connection(&error.to_string()),
                Err(_) => {
                    self.drop_connection(&format!("no answer within {} s", PING_MAX.as_secs()))
                }
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

    /// Runs a pipeline on the connection, if there is one. A failure, or `LATE_MAX` timeouts in a
    /// row, drops the connection until the background task has reconnected.
    async fn run_pipeline<T: redis::FromRedisValue>(&self, pipe: &redis::Pipeline) -> Option<T> {
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
        self.drop_connection(&cause);
        None
    }

    fn drop_connection(&self, cause: &str) {
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
    ) -> Pin<Box<dyn Future<Output = SharedTotal> + Send + 'a>> {
        Box::pin(async move {
            let key = format!("{PREFIX}{name}");
            let kept_ms = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
            let mut pipe = redis::pipe();
            pipe.incr(&key, many).pexpire(&key, kept_ms).ignore();
            let answer: Option<(u64,)> = self.run_pipeline(&pipe).await;
            if answer.is_none() {
                counter!("limits_unshared_total").increment(1);
            }
            answer.map(|(total,)| total)
        })
    }

    fn announce_block(&self, address: IpAddr, until: Timestamp) {
        // If the queue is full, only this node blocks the address.
        let _ = self.blocks.try_send(blocks::AddressBlock { address, until });
    }

    fn node_count(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }
}

fn error_text(error: RedisError) -> String {
    error.to_string()
}
