// The student's file, and what makes its brain.
#include <type_traits>

#include "brain.h"

#include BRAIN_FILE

// Repeats the declaration if the file has one.
class MyBrain;

namespace brain_harness {

template <class T, class = void>
struct Defined : std::false_type {};
template <class T>
struct Defined<T, decltype(void(sizeof(T)))> : std::true_type {};

// So that only the first thing that is missing is complained of.
template <class T, bool defined = Defined<T>::value>
struct Made {
    static_assert(defined, "your brain.cpp has no `class MyBrain : public Brain { ... };` "
                           "(outside any namespace)");
    static ::Brain* make() { return nullptr; }
};
template <class T>
struct Made<T, true> {
    static constexpr bool is_brain = std::is_convertible<T*, ::Brain*>::value;
    static_assert(is_brain, "MyBrain must be a Brain: write `class MyBrain : public Brain`");
    static_assert(!std::is_abstract<T>::value,
                  "MyBrain lacks one of: void getDraw(Tile), Tile requestDiscard(), "
                  "void getOppDiscard(Tile), bool requestWin(Tile, bool)");
    static_assert(std::is_abstract<T>::value || std::is_default_constructible<T>::value,
                  "MyBrain needs a public constructor without arguments");
    static ::Brain* make() { return make_if(Able<is_brain && std::is_default_constructible<T>::value>()); }

private:
    template <bool able>
    using Able = std::integral_constant<bool, able>;
    template <class U = T>
    static ::Brain* make_if(std::true_type) { return new U(); }
    static ::Brain* make_if(std::false_type) { return nullptr; }
};

::Brain* new_brain() { return Made<::MyBrain>::make(); }

}  // namespace brain_harness
