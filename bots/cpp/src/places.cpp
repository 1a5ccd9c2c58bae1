#include "places.hpp"

#include <string>

namespace bot_arena {
namespace {

constexpr std::chrono::seconds PATIENCE{1};
constexpr std::chrono::milliseconds LOOK{10};

}  // namespace

grpc::Status Places::enter(const grpc::ServerContext* stream) {
    std::unique_lock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + PATIENCE;
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
        changed_.wait_for(lock, LOOK);
    }
    return {grpc::StatusCode::UNAVAILABLE, "the bot is stopping"};
}

void Places::leave(const grpc::ServerContext* stream) {
    std::lock_guard lock(mutex_);
    playing_.erase(stream);
    changed_.notify_all();
}

void Places::end() {
    std::lock_guard lock(mutex_);
    --streams_;
    changed_.notify_all();
}

void Places::close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
}

bool Places::wait_until_idle(std::chrono::milliseconds grace) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, grace, [this] { return streams_ == 0; });
}

}  // namespace bot_arena
