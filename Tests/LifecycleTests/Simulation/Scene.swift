import BrokerDesk
import BrokerModel
import ExampleAuthority
import SDBus
import Sodium

/// The whole of a simulation: a broker, a server, eight programs, a person, and everything that goes wrong.
@BrokerActor final class Scene {
    let time = VirtualTime()
    let ledger: Ledger
    let network: Network
    let broker: SimulatedBroker
    let switches: Switches
    let chances: Chances
    var dice: Dice
    var lives: [Life] = []
    var connections = 0
    var families: [Account: Int] = [:]
    var isSigningIn: Set<Account> = []
    /// Items that somebody has deleted, or is about to.
    var absent = Set(Account.allCases)
    /// Calls of `Lock` that are not answered.
    var locks = 0
    var hasPasscode = false
    var device = Device.away {
        didSet {
            for account in Account.allCases where oldValue.serves(account) != device.serves(account) {
                ledger.serves(account, device.serves(account), at: time.monotonic)
            }
        }
    }
    var isUnlockComing = false
    let person = Life(.mail, number: 0)

    static let group = "org.example.mail"
    private static let programs: [Program] = [.mail, .mail, .mail, .sync, .sync, .sync, .tool, .tool]

    init(seed: UInt64, _ switches: Switches = Switches(), _ chances: Chances = Chances()) throws {
        dice = Dice(seed: seed)
        self.switches = switches
        self.chances = chances
        let rules = TokenAuthority.Rules()
        ledger = Ledger(graceMicroseconds: rules.graceMicroseconds)
        network = Network(time, ledger, rules)
        broker = try SimulatedBroker(time, switches)
    }

    /// Plays until so many refreshes are stored.
    func play(refreshes: Int) async {
        broker.chance = chance
        startBroker()
        await setPasscode()
        for account in Account.allCases { signInLater(account) }
        for program in Self.programs { start(program) }
        happen(every: 12 * 3600) { self.lock() }
        happen(every: 12 * 3600) { self.endBroker() }
        happen(every: 3600) { self.kill(self.lives.randomElement(using: &self.dice)) }
        happen(every: 12 * 3600) { self.endSession() }
        happen(every: 4 * 3600) { self.setClock() }
        happen(every: 12 * 3600) { self.signOut() }
        await time.run { ledger.refreshes >= refreshes || !ledger.problems.isEmpty }
        ledger.close(network.authority, at: time.monotonic)
    }

    /// Programs look at their mail about once in two minutes; half of the time all of them do at once.
    func untilNextUse() -> UInt64 {
        let minutes = dice.time(60...180)
        guard dice.chance(perMille: 500) else { return minutes }
        let tick: UInt64 = 120_000_000
        return tick - time.monotonic % tick + dice.time(0...1)
    }

    func way() -> Network.Way { Network.Way(&dice, chances) }

    func chance() -> Double { Double.random(in: 0...1, using: &dice) }

    /// What goes wrong while that process refreshes.
    func trouble(_ life: Life, _ account: Account) {
        let when = time.monotonic + dice.time(0...3)
        if dice.chance(perMille: chances.holderKilled) { time.alarm(at: when) { self.kill(life) } }
        if dice.chance(perMille: chances.brokerEnds) { time.alarm(at: when) { self.endBroker() } }
        if dice.chance(perMille: chances.signedIn) {
            time.alarm(at: when) { BrokerActor.start { await self.signIn(account) } }
        }
        if dice.chance(perMille: chances.locked) { time.alarm(at: when) { self.lock() } }
    }

    private func happen(every seconds: Double, _ body: @escaping @BrokerActor () -> Void) {
        time.alarm(at: time.monotonic + dice.time(0...(2 * seconds))) {
            body()
            self.happen(every: seconds, body)
        }
    }
}

extension Scene {
    func start(_ program: Program) {
        connections += 1
        let life = Life(program, number: connections)
        lives.append(life)
        broker.connect(life.connection, program.rawValue)
        let process = VirtualProcess(life, self)
        BrokerActor.start { await process.run() }
    }

    func kill(_ life: Life?, startsAfter seconds: ClosedRange<Double> = 1...60) {
        guard let life, life.isAlive else { return }
        ledger.count("processes killed")
        life.kill(at: time.monotonic)
        lives.removeAll { $0 === life }
        ledger.killed(life, missedBy: broker.isRunning ? broker.number : nil, at: time.monotonic)
        broker.disconnect(life.connection)
        time.alarm(at: time.monotonic + dice.time(seconds)) { self.start(life.program) }
    }

    // As at the end of a desktop's session.
    func endSession() {
        ledger.count("all processes killed at once")
        for life in lives { kill(life, startsAfter: 5...120) }
    }
}
