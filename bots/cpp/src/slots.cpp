#include "slots.hpp"

#include <string>

namespace bot_arena {
namespace {

constexpr std::chrono::seconds SLOT_WAIT{1};
constexpr std::chrono::milliseconds POLL_INTERVAL{10};

}  // namespace

grpc::Status GameSlots::enter(const grpc::ServerContext* stream) {
    std::unique_lock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + SLOT_WAIT;
    while (!closed_) {
        for (auto it = playing_.begin(); it != playing_.end();) {
            it = (*it)->IsCancelled() ? playing_.erase(it) : std::next(it);
        }
        if (static_cast<int>(playing_.size()) < max_games) {
            playing_.insert(stream);
            ++streams_;
            return grpc::Status::OK;
        }
        if (std::chrono::steady_clock::now() >= deadline || stream->IsCancelled()) {
            return {grpc::StatusCode::RESOURCE_EXHAUSTED,
                    "max_games is " + std::to_string(max_games) +
                        ", and as many games are running"};
        }
        changed_.wait_for(lock, POLL_INTERVAL);
    }
    return {grpc::StatusCode::UNAVAILABLE, "the bot is stopping"};
}

void GameSlots::leave(const grpc::ServerContext* stream) {
    std::lock_guard lock(mutex_);
    playing_.erase(stream);
    changed_.notify_all();
}

void GameSlots::end() {
    std::lock_guard lock(mutex_);
    --streams_;
    changed_.notify_all();
}

void GameSlots::close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
}

bool GameSlots::wait_until_idle(std::chrono::milliseconds grace) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, grace, [this] { return streams_ == 0; });
}

}  // namespace bot_arena
