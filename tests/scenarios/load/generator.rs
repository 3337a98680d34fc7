//! The loop: brings the number of users to what the plan says, asks what is due, takes what comes, gives up what is
//! late.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

use super::user::{CONNECT, Progress, User};
use super::{Pace, Plan, Reply, Report, Usage};

/// How often the number of users and late requests are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Requests that are due and wait for a free connection, at most; more are counted as late.
const MOST_DUE: usize = 1_000_000;

struct Generator<'a> {
    plan: &'a Plan<'a>,
    epoll: OwnedFd,
    users: Vec<Option<User>>,
    wanted: usize,
    /// Users without a request, in the open loop.
    idle: Vec<usize>,
    due: VecDeque<Instant>,
    next_number: u64,
    measuring: bool,
    ending: bool,
    report: Report,
}

pub(super) fn run(plan: &Plan<'_>) -> io::Result<Report> {
    let mut generator = Generator {
        plan,
        epoll: epoll::create(CreateFlags::CLOEXEC)?,
        users: Vec::new(),
        wanted: 0,
        idle: Vec::new(),
        due: VecDeque::new(),
        next_number: 0,
        measuring: false,
        ending: false,
        report: Report::new(),
    };
    generator.drive();
    Ok(generator.report)
}

impl Generator<'_> {
    fn drive(&mut self) {
        let mut events = Vec::with_capacity(512);
        let mut scratch = vec![0; 1 << 16];
        self.adjust(self.plan.users_at(Duration::ZERO));
        let start = Instant::now();
        let (mut measured_from, mut before) = (start, Usage::default());
        let (mut next_look, mut next_due) = (start, start);
        loop {
            let now = Instant::now();
            let elapsed = now - start;
            if !self.measuring && elapsed >= self.plan.warm_up {
                self.measuring = true;
                measured_from = now;
                before = self.usage();
            }
            if !self.ending && elapsed >= self.plan.length() {
                self.ending = true;
                self.report.elapsed = now - measured_from;
                self.report.usage = self.usage().since(before).largest(self.report.usage);
            }
            if self.ending && (self.is_done() || elapsed > self.plan.length() + self.plan.timeout) {
                self.report.late += self.due.len() as u64;
                return;
            }
            if now >= next_look {
                next_look = now + LOOK;
                self.look(now, elapsed);
            }
            if let Pace::Open { per_second } = self.plan.pace {
                while !self.ending && next_due <= now {
                    self.is_due(next_due);
                    next_due += Duration::from_secs_f64(1.0 / per_second);
                }
            }
            let until = next_look.min(match self.plan.pace {
                Pace::Open { .. } if !self.ending => next_due,
                _ => next_look,
            });
            self.wait(until.saturating_duration_since(now), &mut events);
            for event in &events {
                self.serve(event.data.u64() as usize, event.flags, &mut scratch);
            }
        }
    }

    /// Nothing is out any more that counts.
    fn is_done(&self) -> bool {
        match self.plan.pace {
            Pace::Closed { .. } => true,
            Pace::Open { .. } => {
                let busy = |user: &Option<User>| user.as_ref().is_some_and(|u| u.asked.is_some());
                self.due.is_empty() && !self.users.iter().any(busy)
            }
        }
    }

    fn usage(&self) -> Usage {
        self.plan.server.map(Usage::of).unwrap_or_default()
    }

    fn wait(&self, at_most: Duration, events: &mut Vec<Event>) {
        events.clear();
        let timeout = Timespec::try_from(at_most).ok();
        // An error is EINTR: the loop comes round again.
        let _ = epoll::wait(
            &self.epoll,
            rustix::buffer::spare_capacity(events),
            timeout.as_ref(),
        );
    }

    fn look(&mut self, now: Instant, elapsed: Duration) {
        for index in 0..self.users.len() {
            let user = self.users[index].as_ref();
            let connecting = user.and_then(|user| user.connecting);
            if connecting.is_some_and(|since| now - since > CONNECT) {
                self.report.broken += u64::from(self.measuring);
                self.users[index] = None;
                continue;
            }
            if let Some((_, due)) = user.and_then(|user| user.asked)
                && now - due > self.plan.timeout
            {
                self.report.late += u64::from(self.measuring);
                self.users[index] = None;
            }
        }
        if !self.ending {
            self.adjust(self.plan.users_at(elapsed));
        }
        if self.measuring {
            let threads = self.plan.server.map_or(0, |_| self.usage().threads);
            self.report.usage.threads = self.report.usage.threads.max(threads);
        }
    }

    /// Connects who is missing; who is too many leaves after its answer.
    fn adjust(&mut self, wanted: usize) {
        self.wanted = wanted;
        while self.users.len() < wanted {
            self.users.push(None);
        }
        for index in 0..wanted {
            if self.users[index].is_none() && !self.connect(index) {
                // The server is in trouble: tried again at the next look.
                return;
            }
        }
    }

    fn connect(&mut self, index: usize) -> bool {
        let Ok(user) = User::connect(self.plan.target) else {
            self.report.broken += u64::from(self.measuring);
            return false;
        };
        let data = EventData::new_u64(index as u64);
        let both = EventFlags::IN | EventFlags::OUT;
        if epoll::add(&self.epoll, &user.stream, data, both).is_err() {
            return false;
        }
        self.users[index] = Some(user);
        true
    }

    /// A connection was made, or could not be.
    fn connected(&mut self, index: usize) {
        if self.users[index].as_mut().is_some_and(User::is_connected) {
            self.watch(index, EventFlags::IN);
            self.next(index);
        } else {
            self.report.broken += u64::from(self.measuring);
            self.users[index] = None;
        }
    }

    fn watch(&self, index: usize, what: EventFlags) {
        if let Some(user) = &self.users[index] {
            let data = EventData::new_u64(index as u64);
            // Fails only for a connection that is gone, which its next read or write says.
            let _ = epoll::modify(&self.epoll, &user.stream, data, what);
        }
    }

    /// The user is free: for the next request, or to leave.
    fn next(&mut self, index: usize) {
        if index >= self.wanted {
            self.users[index] = None;
            return;
        }
        match self.plan.pace {
            Pace::Closed { .. } if self.ending => {}
            Pace::Closed { .. } => self.ask(index, Instant::now()),
            Pace::Open { .. } => match self.due.pop_front() {
                Some(due) => self.ask(index, due),
                None => self.idle.push(index),
            },
        }
    }

    fn is_due(&mut self, due: Instant) {
        while let Some(index) = self.idle.pop() {
            let is_free = |user: &User| user.asked.is_none();
            if self.users[index].as_ref().is_some_and(is_free) {
                return self.ask(index, due);
            }
        }
        if self.due.len() < MOST_DUE {
            self.due.push_back(due);
        } else {
            self.report.late += 1;
        }
    }

    fn ask(&mut self, index: usize, due: Instant) {
        let number = self.next_number;
        self.next_number += 1;
        if let Some(user) = &mut self.users[index] {
            let progress = user.ask(self.plan.exchange, number, due);
            self.act(index, progress);
        }
    }

    fn serve(&mut self, index: usize, flags: EventFlags, scratch: &mut [u8]) {
        let Some(user) = &mut self.users[index] else {
            return;
        };
        if user.connecting.is_some() {
            return self.connected(index);
        }
        let mut progress = Progress::Waiting;
        if flags.contains(EventFlags::OUT) {
            progress = user.write();
            if progress == Progress::Waiting {
                self.watch(index, EventFlags::IN);
            }
        }
        let reads = progress != Progress::Broken && flags != EventFlags::OUT;
        if let (true, Some(user)) = (reads, &mut self.users[index]) {
            progress = user.read(self.plan.exchange, scratch);
        }
        self.act(index, progress);
    }

    fn act(&mut self, index: usize, progress: Progress) {
        match progress {
            Progress::Waiting | Progress::Answered(Reply::Partial) => {}
            Progress::WouldBlock => self.watch(index, EventFlags::IN | EventFlags::OUT),
            Progress::Answered(Reply::Right) => {
                let due = self.users[index]
                    .as_mut()
                    .and_then(|user| user.asked.take());
                if let Some((_, due)) = due {
                    self.record(due.elapsed());
                }
                self.next(index);
            }
            Progress::Answered(Reply::Wrong) => {
                self.report.wrong += u64::from(self.measuring);
                self.users[index] = None;
            }
            Progress::Broken => {
                // Between two requests a server may close a connection as it likes.
                let user = self.users[index].take();
                let was_out = user.is_some_and(|user| user.asked.is_some());
                self.report.broken += u64::from(self.measuring && was_out);
            }
        }
    }

    fn record(&mut self, time: Duration) {
        let in_window = match self.plan.pace {
            Pace::Closed { .. } => self.measuring && !self.ending,
            Pace::Open { .. } => self.measuring,
        };
        if !in_window {
            return;
        }
        self.report.answered += 1;
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        match self.plan.pace {
            Pace::Closed { expected } => {
                let expected = u64::try_from(expected.as_micros()).unwrap_or(0);
                let micros = micros.min(super::LONGEST);
                // Fits: it is not longer than the longest.
                let _ = self.report.times.record_correct(micros, expected);
            }
            Pace::Open { .. } => self.report.times.saturating_record(micros),
        }
    }
}
