// Throws much in GBK.
#include <stdexcept>

#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        string words = "12 ";
        while (words.size() < 2000) words += "\xb3\xf6\xb4\xed";
        throw runtime_error(words);
    }
};
